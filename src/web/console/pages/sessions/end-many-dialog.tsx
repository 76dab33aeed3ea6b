/** Ends all open sessions of a filter. They are counted when the dialog opens; if more match than were counted, nothing ends. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Failure } from '../../data/api.ts';
import { closeDialog } from '../../data/dialogs.ts';
import { countOpen, endPart, type EndFilter, type OpenCount } from '../../data/ending.ts';
import { refreshAll } from '../../data/live.ts';
import { SessionMark, StateMark } from '../../components/status-marks.tsx';
import { Modal, ReasonField, Refused, onSend } from '../../components/modal.tsx';
import { Warning } from '../../components/view-states.tsx';
import { countText } from '../../labels/format.ts';

const MAX_SHOWN = 5;
const MAX_TENANTS = 6;

interface Progress {
  readonly ended: number;
  readonly failed: number;
  readonly remaining: number;
  readonly batchId: string | undefined;
  readonly isAudited: boolean;
}

const NOTHING: Progress = { ended: 0, failed: 0, remaining: 0, batchId: undefined, isAudited: true };

export function EndManyDialog({ filter, words }: { readonly filter: EndFilter; readonly words: string }) {
  const reason = useSignal('');
  const counted = useSignal<OpenCount | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  /** The previous count, if there are now more. */
  const before = useSignal<number | undefined>(undefined);
  const progress = useSignal<Progress>(NOTHING);
  const step = useSignal<'asking' | 'ending' | 'over'>('asking');
  const isStopped = useSignal(false);

  const count = async (): Promise<void> => {
    const answer = await countOpen(filter);
    if (answer.ok) counted.value = answer.body;
    else failure.value = answer.failure;
  };
  useEffect(() => {
    void count();
    // Closing the dialog, by Escape or by leaving the page, stops it.
    return () => {
      isStopped.value = true;
    };
  }, []);

  const end = async (): Promise<void> => {
    let expected = counted.peek()?.matched ?? 0;
    step.value = 'ending';
    failure.value = undefined;
    before.value = undefined;
    while (!isStopped.peek()) {
      const answer = await endPart(filter, expected, reason.peek().trim(), progress.peek().batchId);
      if (!answer.ok) {
        failure.value = answer.failure;
        // The operator must see the new count before anything more ends.
        if (isChange(answer.failure)) {
          const counted = expected;
          await count();
          before.value = counted;
        }
        break;
      }
      const { ended, failed, remaining, batchId, isAudited } = answer.body;
      const so = progress.peek();
      progress.value = {
        ended: so.ended + ended,
        failed: so.failed + failed,
        remaining,
        batchId,
        isAudited: so.isAudited && isAudited,
      };
      expected = remaining;
      if (remaining === 0 || ended === 0) break;
    }
    step.value = progress.peek().batchId === undefined && !isStopped.peek() ? 'asking' : 'over';
    void refreshAll();
  };

  const known = counted.value;
  const matched = known?.matched ?? 0;
  const { ended, failed, remaining, batchId, isAudited } = progress.value;
  const isAsking = step.value === 'asking';
  return (
    <Modal title="End sessions by filter" class="end" onClose={closeDialog}>
      <form onSubmit={onSend(end)}>
        <h2>
          <Warning />{' '}
          {known === undefined
            ? 'End sessions'
            : `End ${countText(matched)} ${matched === 1 ? 'session' : 'sessions'}?`}
        </h2>
        <p>
          Every open session, <b>{words}</b>.
        </p>
        {known === undefined ? failure.value === undefined && <p role="status">Counting…</p> : <Counts known={known} />}
        {isAsking && matched > 0 && (
          <>
            <p>Their callers hear that an operator closed the conversation. It cannot be taken back.</p>
            <ReasonField reason={reason} />
          </>
        )}
        {before.value === undefined ? (
          <Refused failure={failure.value} />
        ) : (
          <p class="problem" role="alert">
            {countText(matched)} match now, {countText(before.value)} were counted before. Nothing was ended: look
            again.
          </p>
        )}
        {!isAsking && (
          <div role="status">
            <progress max={Math.max(1, ended + remaining)} value={ended} aria-label="Ended" />
            <p>
              {countText(ended)} ended, {countText(remaining)} left
              {failed > 0 && `, ${countText(failed)} could not be ended`}
              {isStopped.value && '; stopped'}
            </p>
          </div>
        )}
        {!isAudited && (
          <p class="problem" role="alert">
            <Warning /> The database went away: they ended, but the audit does not have what came of it. Its rows say
            “unknown”, and how many are left was counted before.
          </p>
        )}
        {step.value === 'over' && batchId !== undefined && (
          <p>
            <a href={`/console/audit?batchId=${batchId}`} onClick={closeDialog}>
              What was ended, in the audit
            </a>
          </p>
        )}
        <div class="buttons">
          {isAsking && (
            <button class="danger" disabled={matched === 0}>
              <Warning /> End {countText(matched)}
            </button>
          )}
          {step.value === 'ending' ? (
            <button type="button" disabled={isStopped.value} onClick={() => (isStopped.value = true)}>
              Stop
            </button>
          ) : (
            <button type="button" onClick={closeDialog}>
              {isAsking ? 'Keep' : 'Close'}
            </button>
          )}
        </div>
      </form>
    </Modal>
  );
}

function isChange(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.code === 'COUNT_CHANGED';
}

/** How many there are by state and tenant, and the first of them. */
function Counts({ known: { matched, byState, byTenant, sample } }: { readonly known: OpenCount }) {
  if (matched === 0) return <p>No open session is like that.</p>;
  const tenants = Object.entries(byTenant).toSorted(([, a], [, b]) => b - a);
  return (
    <div class="targets" role="group" aria-label="What would end">
      <p class="counted">
        {(['engaged', 'idle', 'stale'] as const).map((state) => (
          <span key={state}>
            <StateMark state={state} /> {countText(byState[state])}
          </span>
        ))}
      </p>
      <p>
        {tenants
          .slice(0, MAX_TENANTS)
          .map(([tenant, count]) => `${tenant} ${countText(count)}`)
          .join(', ')}
        {tenants.length > MAX_TENANTS && ` and ${tenants.length - MAX_TENANTS} more tenants`}
      </p>
      <ul>
        {sample.slice(0, MAX_SHOWN).map((session) => (
          <li key={session.ref}>
            <SessionMark of={session} />
          </li>
        ))}
        {matched > MAX_SHOWN && <li class="soft">and {countText(matched - MAX_SHOWN)} more</li>}
      </ul>
    </div>
  );
}
