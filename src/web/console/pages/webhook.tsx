import { useLocation, useRoute } from 'preact-iso';
import { post } from '../data/api.ts';
import { auditOf, webhookApi } from '../data/links.ts';
import type { Delivery, DeliveryPage, Webhook, WebhookReply } from '../data/shapes.ts';
import { mayChange } from '../data/identity.ts';
import { usePagedRows } from '../data/paged.ts';
import { useResource } from '../data/resource.ts';
import { Fact, IdFact, Ref, Section } from '../components/card.tsx';
import { Choice, FilterForm, Text, useFilter } from '../components/filter-fields.tsx';
import { FoundList } from '../components/found-list.tsx';
import { Matter } from '../components/matters.tsx';
import { OpenButton, sayOutcome } from '../components/modal.tsx';
import { Page, Unread } from '../components/page.tsx';
import { Countdown, Moment } from '../components/times.tsx';
import { Empty, knownOf } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';
import { WebhookMark } from './webhooks.tsx';
import { DELIVERY_COLUMNS } from './delivery.tsx';
import {
  ReplayDialog,
  ChangeWebhookDialog,
  DeleteWebhookDialog,
  DisableWebhookDialog,
  RotateWebhookDialog,
} from './webhook-dialogs.tsx';
import { SECOND_MS } from '../data/durations.ts';

const EVERY_MS = 2 * SECOND_MS;
const NAMES = ['state', 'type', 'session'] as const;
const STATES = ['waiting', 'delivered', 'dead'].map((state) => [state, state] as const);

/** One webhook: its state, and what it was told. */
export function WebhookPage() {
  const id = useRoute().params['id'] ?? '';
  const resource = useResource<WebhookReply>(webhookApi(id), { topics: ['audit'] }, { besideFeedMs: EVERY_MS });
  const webhook = knownOf(resource)?.webhook;
  const title = webhook === undefined ? 'Webhook' : new URL(webhook.url).host;
  // A webhook that was deleted meanwhile is no longer shown.
  if (webhook === undefined || resource.failure.value?.kind === 'missing')
    return <Unread title={title} heading="Webhook" resource={resource} what="this webhook" />;
  return (
    <Page title={title} resource={resource}>
      <div class="title-row">
        <h1>{title}</h1>
        <WebhookMark state={webhook.state} />
        <span class="spring" />
        {mayChange.value && <Changes webhook={webhook} />}
      </div>
      <Ref>{webhook.url}</Ref>
      <Trouble webhook={webhook} />
      <Section title="The webhook">
        <dl class="facts">
          <Fact name="Tenant">{webhook.tenantId ?? 'all: it is of the installation'}</Fact>
          <Fact name="Is told">{webhook.types.join(', ')}</Fact>
          <Fact name="Waiting">{countText(webhook.waiting)}</Fact>
          <Fact name="Added">
            <Moment at={webhook.createdAt} /> by {webhook.createdBy}
          </Fact>
          <IdFact name="Id" id={webhook.id} />
          <Fact name="Audit">
            <a href={auditOf(webhook.id)}>What was done to it</a>
          </Fact>
        </dl>
      </Section>
      <Deliveries id={id} />
    </Page>
  );
}

/** Why it receives nothing, or little. */
function Trouble({ webhook: { state, failingSince, probeAt, disabledFor, failures } }: { readonly webhook: Webhook }) {
  if (state === 'healthy')
    return failures === 0 ? null : (
      <Matter degree="watch">The last {failures === 1 ? 'request' : `${failures} requests`} failed.</Matter>
    );
  if (state === 'failing')
    return (
      <Matter degree="watch">
        It fails since {failingSince === null ? 'some time' : <Moment at={failingSince} />}: all waits but one request
        now and then, the next {probeAt === null ? 'soon' : <Countdown to={probeAt} />}. After five days it is given up.
      </Matter>
    );
  const why =
    disabledFor === 'gone'
      ? 'Its server answered 410, that it wants nothing any more.'
      : disabledFor === 'failing'
        ? 'It failed for five days.'
        : 'Somebody switched it off.';
  return <Matter degree="watch">{why} What happens waits until it is enabled.</Matter>;
}

function Changes({ webhook }: { readonly webhook: Webhook }) {
  const { route } = useLocation();
  const { id, state } = webhook;
  const test = (): void => sayOutcome(post(`${webhookApi(id)}/test`, {}), 'A test is sent: see below what comes of it');
  const enable = (): void => sayOutcome(post(`${webhookApi(id)}/enable`, {}), 'It is tried at once');
  return (
    <>
      <button type="button" onClick={test}>
        Test
      </button>
      {state !== 'healthy' && (
        <button type="button" onClick={enable}>
          Enable
        </button>
      )}
      {state !== 'disabled' && <OpenButton verb="Disable" opens={<DisableWebhookDialog id={id} />} />}
      <OpenButton verb="New secret" opens={<RotateWebhookDialog id={id} />} />
      <OpenButton verb="Change" opens={<ChangeWebhookDialog webhook={webhook} />} />
      <OpenButton
        verb="Delete"
        kind="danger"
        opens={<DeleteWebhookDialog webhook={webhook} onDone={() => route('/console/webhooks')} />}
      />
    </>
  );
}

/** What it was told, newest first. The filter is in the address. */
function Deliveries({ id }: { readonly id: string }) {
  const { text, field, onClear } = useFilter(NAMES);
  const list = usePagedRows<DeliveryPage, Delivery>(`${webhookApi(id)}/deliveries${text}`, {
    rowsOf: ({ deliveries }) => deliveries,
    keyOf: ({ event }) => event,
    watch: { topics: ['audit'] },
    besideFeedMs: EVERY_MS,
    dimsMissing: true,
  });
  return (
    <>
      <div class="title-row">
        <h2>What it was told</h2>
        <span class="spring" />
        {mayChange.value && <OpenButton verb="Send again" opens={<ReplayDialog id={id} />} />}
      </div>
      <FilterForm onClear={onClear}>
        <Choice label="State" values={STATES} {...field('state')} />
        <Text label="Event" {...field('type')} isFirst />
        <Text label="Session" {...field('session')} />
      </FilterForm>
      <FoundList
        what="What it was told"
        list={list}
        columns={DELIVERY_COLUMNS}
        empty={<Empty title={text !== '' ? 'Nothing is like that' : 'It was told nothing yet'} />}
      />
    </>
  );
}
