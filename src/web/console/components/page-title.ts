import { useEffect } from 'preact/hooks';

/** Sets the page's title, for tabs and for screen readers. */
export function usePage(title: string): void {
  useEffect(() => {
    document.title = `${title} · Switchboard`;
  }, [title]);
}
