import { ending } from '../data/ending.ts';
import type { SessionDetail } from '../data/shapes.ts';
import { reasonWords } from '../words/reasons.ts';
import { Countdown, Moment } from './moments.tsx';

/** The one sentence that everybody came for: why it ended, or what ends it next. */
export function Why({ detail }: { readonly detail: SessionDetail }) {
  const { why, ref, state, endedAt, endReason } = detail;
  return (
    <div class="why">
      <p>
        {why === undefined ? (
          endedAt === null ? (
            <>It is open.</>
          ) : (
            <>
              Ended at <Moment at={endedAt} />: {reasonWords(endReason)}.
            </>
          )
        ) : (
          why.sentence
        )}
      </p>
      {state !== 'ended' && (ending.value.has(ref) ? <p class="next">ending…</p> : <NextDeadline detail={detail} />)}
    </div>
  );
}

/** Counted down by the clock of the server. */
function NextDeadline({ detail: { deadline, nextDeadline } }: { readonly detail: SessionDetail }) {
  const at = deadline?.at ?? nextDeadline;
  if (at === null) return null;
  const what =
    deadline === undefined || deadline === null
      ? 'changes'
      : deadline.to === 'ended'
        ? 'ends'
        : `becomes ${deadline.to}`;
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
