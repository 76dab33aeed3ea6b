import { useRoute } from 'preact-iso';
import { post } from '../data/api.ts';
import { mayChange } from '../data/identity.ts';
import { useResource } from '../data/resource.ts';
import { webhookApi, webhookPage, deliveryPath } from '../data/links.ts';
import type { DeliveryDetail, Delivery } from '../data/shapes.ts';
import { Fact, IdFact, Ref, Section, TimeFact } from '../components/card.tsx';
import { sayOutcome } from '../components/modal.tsx';
import { Page, Unread } from '../components/page.tsx';
import { Countdown, Moment } from '../components/times.tsx';
import { knownOf } from '../components/view-states.tsx';
import { countText, latencyText } from '../labels/format.ts';
import { Standing } from '../components/status-marks.tsx';
import type { Column } from '../components/table.tsx';

/** One event for one webhook: the result, and what was sent. */
export function DeliveryPage() {
  const { id = '', event = '' } = useRoute().params;
  const path = `${webhookApi(id)}/deliveries/${event}`;
  const resource = useResource<DeliveryDetail>(path, { topics: ['audit'] }, { besideFeedMs: 2000 });
  const delivery = knownOf(resource);
  if (delivery === undefined) return <Unread title="Delivery" resource={resource} what="this delivery" />;
  const { type, state, at, session, attempts, lastAt, ms, nextAt, doneAt } = delivery;
  return (
    <Page title="Delivery" resource={resource}>
      <div class="title-row">
        <h1>
          <code>{type}</code>
        </h1>
        <DeliveryMark state={state} />
        <span class="spring" />
        {mayChange.value && (
          <button type="button" onClick={() => sayOutcome(post(`${path}/replay`, {}), 'It is sent again')}>
            Send again
          </button>
        )}
      </div>
      <Ref>{delivery.event}</Ref>
      <Section title="What came of it">
        <dl class="facts">
          <TimeFact name="Happened" at={at} hasMs />
          <Fact name="Answer">{answerWords(delivery)}</Fact>
          <Fact name="Tries">{countText(attempts)}</Fact>
          <TimeFact name="Last try" at={lastAt} hasMs />
          <Fact name="Took">{ms === null ? null : latencyText(ms)}</Fact>
          <Fact name="Next try">{nextAt === null ? null : <Countdown to={nextAt} />}</Fact>
          <TimeFact name="Over" at={doneAt} hasMs />
          <IdFact name="Session" id={session} href={`/console/sessions/${session}`} />
          <IdFact name="Webhook" id={delivery.webhook} href={webhookPage(delivery.webhook)} />
        </dl>
      </Section>
      <Section title="What is sent">
        <pre>{JSON.stringify(JSON.parse(delivery.body), null, 2)}</pre>
      </Section>
    </Page>
  );
}

/** The state of a delivery. */
function DeliveryMark({ state }: Pick<Delivery, 'state'>) {
  const kinds = { waiting: 'waiting', delivered: 'on', dead: 'bad' } as const;
  return <Standing kind={kinds[state]}>{state}</Standing>;
}

const CODES: Readonly<Record<string, string>> = {
  forbidden: 'its address is not public',
  unreachable: 'could not be reached',
  timed_out: 'did not answer in time',
  unsigned: 'its secret cannot be read',
};

/** What the server last answered, or why it did not, in few words. */
function answerWords({ lastStatus, lastCode, lastAt }: Pick<Delivery, 'lastStatus' | 'lastCode' | 'lastAt'>) {
  if (lastAt === null) return 'not sent yet';
  return lastStatus === null ? (CODES[lastCode ?? ''] ?? lastCode ?? 'no answer') : String(lastStatus);
}

export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: 'Happened', cell: ({ at }) => <Moment at={at} /> },
  {
    title: 'Event',
    isName: true,
    cell: (delivery) => (
      <a href={deliveryPath(delivery)}>
        <code>{delivery.type}</code>
      </a>
    ),
  },
  { title: 'State', cell: ({ state }) => <DeliveryMark state={state} /> },
  { title: 'Answer', style: 'text', cell: answerWords },
  { title: 'Tries', style: 'number', cell: ({ attempts }) => String(attempts) },
  { title: 'Took', style: 'number', cell: ({ ms }) => (ms === null ? '–' : latencyText(ms)) },
  { title: 'Next', cell: ({ nextAt }) => (nextAt === null ? '–' : <Countdown to={nextAt} />) },
];
