import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { Failure } from '../data/api.ts';
import { showPlace } from '../data/places.ts';
import { readViews, savedViews } from '../data/saved-views.ts';
import { Page } from '../components/page.tsx';
import { Empty, Loading, wordsOf } from '../components/view-states.tsx';

/**
 * Opens the list that `?view=` names. If there is no such view, it does not show the unfiltered list in its place, because there "End…" ends
 * all sessions.
 */
export function ViewPage({ id }: { readonly id: string }) {
  const { path, route } = useLocation();
  const failure = useSignal<Failure | undefined>(undefined);
  const isRead = useSignal(false);
  const view = savedViews.value.find((each) => each.id === id);
  const read = async (): Promise<void> => {
    failure.value = await readViews();
    isRead.value = true;
  };
  useEffect(() => {
    // Somebody may have saved it since the views were read.
    if (view === undefined) void read();
  }, []);
  useLayoutEffect(() => {
    if (view !== undefined) route(view.href, true);
  }, [view]);
  // The router is not there meanwhile, and so does not do this when its page is drawn.
  useLayoutEffect(() => {
    showPlace();
    return showPlace;
  }, []);
  const why = failure.value;
  return (
    <Page title="Saved view">
      <h1>Saved view</h1>
      {view !== undefined || !isRead.value ? (
        <Loading />
      ) : (
        <div role="alert">
          <Empty
            title={why === undefined ? 'There is no such view for you' : 'The saved views cannot be read'}
            link={[path, 'See the list without a filter']}
          >
            <p>{why === undefined ? 'It may have been deleted, or saved by somebody for themselves.' : wordsOf(why)}</p>
            {why !== undefined && (
              <button type="button" onClick={() => void read()}>
                Try again
              </button>
            )}
          </Empty>
        </div>
      )}
    </Page>
  );
}
