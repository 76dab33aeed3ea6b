import { useEffect } from 'preact/hooks';

/** Names the page, for tabs and for whoever hears it. */
export function usePage(title: string): void {
  useEffect(() => {
    document.title = `${title} · Switchboard`;
  }, [title]);
}
