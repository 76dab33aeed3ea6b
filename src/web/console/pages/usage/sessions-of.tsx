import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { search } from '../../data/search.ts';
import { Moment } from '../../parts/moments.tsx';
import { StateOrWord } from '../../parts/state-mark.tsx';
import type { SearchHit } from '../../../../protocol/operator/search.ts';

/** The sessions of a subject, by which it is known to the search. */
export function SessionsOf({ subject }: { readonly subject: string }) {
  const hits = useSignal<readonly SearchHit[] | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    void search(subject).then((found) => {
      if (!isOver) hits.value = 'hits' in found ? found.hits.filter(({ kind }) => kind === 'session') : [];
    });
    return () => {
      isOver = true;
    };
  }, [subject]);
  return (
    <>
      <p>
        Subject <code class="break">{subject}</code>
      </p>
      {hits.value === undefined ? (
        <p role="status">Looking for its sessions…</p>
      ) : hits.value.length === 0 ? (
        <p class="soft">None of its sessions is kept.</p>
      ) : (
        <ul class="notes">
          {hits.value.map(({ id, label, href }) => (
            <li key={id}>
              <a href={href}>
                <Told label={label} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** `acme/support 7f3a…, engaged, 2030-01-01T12:00:00.000Z` as it is written everywhere else. */
function Told({ label }: { readonly label: string }) {
  const [, place, state, at] = /^(.*) \S+, (\w+), (\S+Z)$/.exec(label) ?? [];
  if (place === undefined || state === undefined || at === undefined) return <>{label}</>;
  return (
    <>
      {place} <StateOrWord name={state} /> <Moment at={at} />
    </>
  );
}
