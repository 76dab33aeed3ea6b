import { useSignal } from '@preact/signals';
import type { Failure } from '../../data/api.ts';
import { closeDialog, say } from '../../data/dialogs.ts';
import { refreshAll } from '../../data/live.ts';
import { now } from '../../data/server-time.ts';
import { replayMany, type Webhook } from '../../data/webhooks.ts';
import { FormButtons, Modal, Refused } from '../../parts/modal.tsx';
import { countText } from '../../words/format.ts';

const DAY_MS = 24 * 3_600_000;

/** Sends again what a webhook was told in a range of days, after counting it. */
export function ReplayDialog({ id }: Pick<Webhook, 'id'>) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const days = useSignal('1');
  const counted = useSignal<{ readonly from: string; readonly to: string; readonly matched: number } | undefined>(
    undefined,
  );
  const run = async (): Promise<void> => {
    const known = counted.peek();
    const to = new Date(now.peek()).toISOString();
    const span = known ?? { from: new Date(now.peek() - Number(days.peek()) * DAY_MS).toISOString(), to };
    const asked = { from: span.from, to: span.to };
    isRunning.value = true;
    const answer = await replayMany(
      id,
      known === undefined ? { ...asked, dryRun: true } : { ...asked, expected: known.matched },
    );
    isRunning.value = false;
    failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return;
    if ('matched' in answer.body) {
      counted.value = { ...asked, matched: answer.body.matched };
      return;
    }
    say(`Sent again: ${countText(answer.body.replayed)}`);
    closeDialog();
    void refreshAll();
  };
  const matched = counted.value?.matched;
  return (
    <Modal title="Send again" onClose={closeDialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <h2>Send again</h2>
        <label class="field">
          What happened in
          <select
            value={days.value}
            onChange={({ currentTarget }) => {
              days.value = currentTarget.value;
              counted.value = undefined;
            }}
          >
            <option value="1">the last day</option>
            <option value="3">the last 3 days</option>
            <option value="7">the last week</option>
            <option value="30">the last 30 days</option>
          </select>
        </label>
        <p class="soft hint">
          Each keeps its id: a server that remembers ids sees nothing twice. What waits anyway is left as it is.
        </p>
        {matched !== undefined && (
          <p role="status">
            {matched === 0
              ? 'There is nothing.'
              : `${countText(matched)} ${matched === 1 ? 'event is' : 'events are'} sent again.`}
          </p>
        )}
        <Refused failure={failure.value} />
        <FormButtons
          verb={matched === undefined || matched === 0 ? 'Count' : 'Send again'}
          isRunning={isRunning.value}
        />
      </form>
    </Modal>
  );
}
