import { ending } from '../../data/ending.ts';
import type { SessionDetail } from '../../data/shapes.ts';
import { Countdown, Moment } from '../../parts/moments.tsx';

/** The one sentence that everybody came for: why it ended, or what ends it next. */
export function Why({ detail }: { readonly detail: SessionDetail }) {
  const { why, ref, state } = detail;
  return (
    <div class="why">
      <p>{why.sentence}</p>
      {why.facts.length > 0 && (
        <ul class="soft">
          {why.facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {state !== 'ended' && (ending.value.has(ref) ? <p class="next">ending…</p> : <NextDeadline detail={detail} />)}
    </div>
  );
}

/** Counted down by the clock of the server. */
function NextDeadline({ detail: { deadline } }: { readonly detail: SessionDetail }) {
  if (deadline === null) return null;
  const { at, to } = deadline;
  const what = to === 'ended' ? 'ends' : `becomes ${to}`;
  return (
    <p class="next">
      By the clock alone it {what}{' '}
      <b>
        <Countdown to={at} />
      </b>{' '}
      <span class="soft">
        (<Moment at={at} />)
      </span>
    </p>
  );
}
