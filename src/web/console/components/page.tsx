import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Resource } from '../data/resource.ts';
import { Failed, Loading, Outdated } from './view-states.tsx';

/** Sets the window's title, for tabs and for screen readers. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Switchboard`;
  }, [title]);
}

interface PageProps {
  /** The window's title. */
  readonly title: string;
  /** What the page shows. If it cannot be read again, the page says so. */
  readonly resource?: Pick<Resource<unknown>, 'failure'>;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Page({ title, resource, class: style = 'page', children }: PageProps) {
  useTitle(title);
  return (
    <div class={style}>
      <Outdated failure={resource?.failure.value} />
      {children}
    </div>
  );
}

interface UnreadProps {
  readonly title: string;
  /** The heading, if it differs from the window's title. */
  readonly heading?: string;
  readonly resource: Pick<Resource<unknown>, 'failure'>;
  /** What completes "You may not see …". */
  readonly what: string;
  /** About how many rows it will have. */
  readonly rows?: number;
}

/** A page that has not been read yet: shows that it is loading, or why it cannot be read. */
export function Unread({ title, heading = title, resource, what, rows }: UnreadProps) {
  const why = resource.failure.value;
  return (
    <Page title={title}>
      <h1>{heading}</h1>
      {why === undefined ? <Loading rows={rows} /> : <Failed failure={why} what={what} />}
    </Page>
  );
}
