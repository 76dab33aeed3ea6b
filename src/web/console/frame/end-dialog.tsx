/** Ends sessions: reads them again when it opens, requires a reason, and shows the result for each. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../data/api.ts';
import { endTargets, say } from '../data/dialogs.ts';
import { endSession } from '../data/ending.ts';
import { refreshAll } from '../data/live.ts';
import type { Session } from '../data/shapes.ts';
import { SessionMark } from '../components/status-marks.tsx';
import { Modal, ReasonField, onSend } from '../components/modal.tsx';
import { Warning, wordsOf } from '../components/view-states.tsx';

const MAX_SHOWN = 5;

type Target = Pick<Session, 'ref' | 'state' | 'tenantId' | 'agentId' | 'emailHash'>;

export function EndDialog() {
  const targets = endTargets.value;
  return targets === undefined ? null : <OpenEndDialog refs={targets} />;
}

function OpenEndDialog({ refs }: { readonly refs: readonly string[] }) {
  const reason = useSignal('');
  const done = useSignal<number | undefined>(undefined);
  const isStopped = useSignal(false);
  const failures = useSignal<readonly string[]>([]);
  const targets = useTargets(refs);
  const many = refs.length > 1;
  const isRunning = done.value !== undefined;

  const end = async (): Promise<void> => {
    done.value = 0;
    failures.value = [];
    for (const ref of refs) {
      if (isStopped.peek()) break;
      const failure = await endSession(ref, reason.peek().trim());
      if (failure !== undefined) failures.value = [...failures.peek(), `${ref}: ${wordsOf(failure)}`];
      done.value += 1;
    }
    const ended = done.value - failures.peek().length;
    done.value = undefined;
    if (ended > 0) void refreshAll();
    if (failures.peek().length > 0) return;
    say(many ? `${ended} sessions told to end` : 'Session told to end');
    endTargets.value = undefined;
  };

  return (
    <Modal title="End sessions" class="end" onClose={() => (endTargets.value = undefined)}>
      <form onSubmit={onSend(end)}>
        <h2>
          <Warning /> {many ? `End ${refs.length} sessions?` : 'End this session?'}
        </h2>
        <ul class="targets">
          {targets.value.map((target) => (
            <li key={target.ref}>
              <SessionMark of={target} />
            </li>
          ))}
          {refs.length > MAX_SHOWN && <li class="soft">and {refs.length - MAX_SHOWN} more</li>}
        </ul>
        <p>
          {many ? 'Their callers hear' : 'Its caller hears'} that an operator closed the conversation. It cannot be
          taken back.
        </p>
        <ReasonField reason={reason} />
        {failures.value.length > 0 && (
          <ul class="problem" role="alert">
            {failures.value.slice(0, MAX_SHOWN).map((failure) => (
              <li key={failure}>{failure}</li>
            ))}
          </ul>
        )}
        <p role="status">{isRunning && many ? `${done.value} of ${refs.length}` : ''}</p>
        <div class="buttons">
          <button class="danger" disabled={isRunning}>
            <Warning /> {many ? 'End them' : 'End session'}
          </button>
          <button
            type="button"
            onClick={() => {
              isStopped.value = true;
              if (!isRunning) endTargets.value = undefined;
            }}
          >
            {isRunning ? 'Stop' : 'Keep'}
          </button>
        </div>
      </form>
    </Modal>
  );
}

/** The first of the sessions, read anew rather than taken from a list. */
function useTargets(refs: readonly string[]) {
  const targets = useSignal<readonly Target[]>([]);
  useEffect(() => {
    const shown = refs.slice(0, MAX_SHOWN).map((ref) => get<Target>(`/api/operator/sessions/${ref}`));
    void Promise.all(shown).then((answers) => {
      targets.value = answers.flatMap((answer) => (answer.ok ? [answer.body] : []));
    });
  }, [refs]);
  return targets;
}
