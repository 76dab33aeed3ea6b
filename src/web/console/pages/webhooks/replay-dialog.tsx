import { useSignal } from '@preact/signals';
import type { replayReply } from '../../../../protocol/operator/webhook.ts';
import { post } from '../../data/api.ts';
import { DAY_MS } from '../../data/durations.ts';
import { now } from '../../data/server-time.ts';
import type { Output } from '../../data/shapes.ts';
import { webhookApi, type Webhook } from '../../data/webhooks.ts';
import { FormDialog, SelectField } from '../../components/modal.tsx';
import { countText } from '../../labels/format.ts';

const SPANS = [
  ['1', 'the last day'],
  ['3', 'the last 3 days'],
  ['7', 'the last week'],
  ['30', 'the last 30 days'],
] as const;

/** Sends again what a webhook was told in a range of days, after counting it. */
export function ReplayDialog({ id }: Pick<Webhook, 'id'>) {
  const days = useSignal('1');
  const span = useSignal({ from: '', to: '' });
  /** How many events of the span are sent again; undefined until they are counted. */
  const matched = useSignal<number | undefined>(undefined);
  const ask = (how: object) => post<Output<typeof replayReply>>(`${webhookApi(id)}/replay`, { ...span.peek(), ...how });
  const send = () => {
    const expected = matched.peek();
    if (expected !== undefined) return ask({ expected });
    const to = now.peek();
    const from = to - Number(days.peek()) * DAY_MS;
    span.value = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return ask({ dryRun: true });
  };
  const count = matched.value;
  return (
    <FormDialog
      title="Send again"
      verb={count === undefined || count === 0 ? 'Count' : 'Send again'}
      send={send}
      done={(body) => {
        if (!('matched' in body)) return `Sent again: ${countText(body.replayed)}`;
        matched.value = body.matched;
        return undefined;
      }}
    >
      <SelectField
        label="What happened in"
        values={SPANS}
        chosen={days.value}
        onSet={(chosen) => {
          days.value = chosen;
          matched.value = undefined;
        }}
      />
      <p class="soft hint">
        Each keeps its id: a server that remembers ids sees nothing twice. What waits anyway is left as it is.
      </p>
      {count !== undefined && (
        <p role="status">
          {count === 0
            ? 'There is nothing.'
            : `${countText(count)} ${count === 1 ? 'event is' : 'events are'} sent again.`}
        </p>
      )}
    </FormDialog>
  );
}
