/** Adds and changes webhooks, and sends again what they were told. A secret is shown once, and is not kept in the page afterwards. */
import type {
  newWebhookReply,
  newWebhookRequest,
  webhookSecretReply,
  replayReply,
} from '../../../protocol/operator/webhook.ts';
import { patch, post, remove } from '../data/api.ts';
import { isOfInstallation } from '../data/identity.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import type { Output, Webhook, Webhooks } from '../data/shapes.ts';
import { webhookApi } from '../data/links.ts';
import { Copied } from '../components/codes.tsx';
import { FormDialog, RevokeDialog, SelectField, TextField, textOf, textsOf } from '../components/modal.tsx';
import { Loading } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';
import { useSignal } from '@preact/signals';
import { DAY_MS } from '../data/durations.ts';
import { now } from '../data/server-time.ts';

interface WishProps {
  readonly known: Webhooks['types'];
  readonly url: string;
  readonly types: readonly string[];
}

/** The fields for the webhook's address and event types. */
function WishFields({ known, url, types }: WishProps) {
  return (
    <>
      <TextField
        label="Address"
        name="url"
        type="url"
        required
        maxLength={1024}
        placeholder="https://hooks.example.com/switchboard"
        defaultValue={url}
      />
      <fieldset>
        <legend>Is told when</legend>
        {known.map(({ type, meaning }) => (
          <label key={type} class="check">
            <input type="checkbox" name="types" value={type} defaultChecked={types.includes(type)} />
            <span>
              <code>{type}</code> <span class="soft">{meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

/** Shows a secret, only this once. */
function shownOnce(title: string) {
  return {
    title,
    show: ({ secret }: { readonly secret: string }) => (
      <>
        <h2>{title}</h2>
        <p>The secret is shown this once: give it to the server now.</p>
        <Copied text={secret} what="Secret" />
      </>
    ),
  };
}

interface AddProps {
  readonly tenants: Webhooks['tenants'];
  readonly types: Webhooks['types'];
  /** The tenant that is chosen on the page; empty if none. */
  readonly tenantId: string;
}

export function AddWebhookDialog({ tenants, types, tenantId }: AddProps) {
  const send = (data: FormData) => {
    const wish: Output<typeof newWebhookRequest> = {
      tenantId: textOf(data, 'tenantId') || undefined,
      url: textOf(data, 'url'),
      types: textsOf(data, 'types'),
    };
    return post<Output<typeof newWebhookReply>>('/api/operator/webhooks', wish);
  };
  return (
    <FormDialog title="Add a webhook" verb="Add" send={send} result={shownOnce('The webhook is added')}>
      <SelectField
        label="Of"
        name="tenantId"
        chosen={tenantId}
        values={[
          ...(isOfInstallation.value ? [['', 'all tenants, for the installation'] as const] : []),
          ...tenants.map(({ id, name }) => [id, name] as const),
        ]}
      />
      <WishFields known={types} url="" types={['session.settled']} />
    </FormDialog>
  );
}

export function ChangeWebhookDialog({ webhook }: { readonly webhook: Webhook }) {
  const all = useResource<Webhooks>('/api/operator/webhooks', { topics: ['audit'] });
  const known = all.body.value?.types;
  const send = (data: FormData) =>
    patch(webhookApi(webhook.id), { url: textOf(data, 'url'), types: textsOf(data, 'types') });
  return (
    <FormDialog title="Change the webhook" verb="Change" send={send} done="The webhook is changed">
      {known === undefined ? <Loading rows={3} /> : <WishFields known={known} {...webhook} />}
      <p class="soft hint">What waits for it goes to the new address too; it is told of other things from now on.</p>
    </FormDialog>
  );
}

/** Creates the webhook's next secret, and shows it only this once. */
export function RotateWebhookDialog({ id }: Pick<Webhook, 'id'>) {
  return (
    <FormDialog
      title="Make a new secret"
      verb="Make it"
      reason="required"
      send={(_, reason) => post<Output<typeof webhookSecretReply>>(`${webhookApi(id)}/rotate`, { reason })}
      result={shownOnce('The new secret')}
    >
      <p>By it the server knows that Switchboard sends. The present one signs as well for 24 hours.</p>
    </FormDialog>
  );
}

export function DeleteWebhookDialog({ webhook, onDone }: { readonly webhook: Webhook; readonly onDone: () => void }) {
  const { id, url, waiting } = webhook;
  return (
    <RevokeDialog
      title="Delete this webhook?"
      verb="Delete"
      send={(_, reason) => remove(webhookApi(id) + queryText({ reason }))}
      done={() => {
        onDone();
        return 'Webhook deleted';
      }}
    >
      <p class="break">{url} is told nothing any more.</p>
      {waiting > 0 && <p>{countText(waiting)} deliveries wait for it, and are lost.</p>}
    </RevokeDialog>
  );
}

export function DisableWebhookDialog({ id }: Pick<Webhook, 'id'>) {
  return (
    <RevokeDialog
      title="Send nothing to this webhook?"
      verb="Disable"
      send={(_, reason) => post(`${webhookApi(id)}/disable`, { reason })}
      done="Webhook disabled"
    >
      <p>What happens meanwhile waits, and is sent once it is enabled.</p>
    </RevokeDialog>
  );
}

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
