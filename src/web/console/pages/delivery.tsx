import { useRoute } from 'preact-iso';
import { post } from '../data/api.ts';
import { mayChange } from '../data/identity.ts';
import { useResource } from '../data/resource.ts';
import { webhookApi, webhookPage, type DeliveryDetail } from '../data/webhooks.ts';
import { Fact, IdFact, Ref, Section, TimeFact } from '../components/card.tsx';
import { sayOutcome } from '../components/modal.tsx';
import { Countdown } from '../components/times.tsx';
import { usePage } from '../components/page-title.ts';
import { knownOf, Outdated, Unread } from '../components/view-states.tsx';
import { countText, latencyText } from '../labels/format.ts';
import { answerWords, DeliveryMark } from './webhooks/deliveries.tsx';

/** One event for one webhook: the result, and what was sent. */
export function DeliveryPage() {
  const { id = '', event = '' } = useRoute().params;
  usePage('Delivery');
  const path = `${webhookApi(id)}/deliveries/${event}`;
  const resource = useResource<DeliveryDetail>(path, { topics: ['audit'] }, { besideFeedMs: 2000 });
  const delivery = knownOf(resource);
  if (delivery === undefined) return <Unread title="Delivery" resource={resource} what="this delivery" />;
  const { type, state, at, session, attempts, lastAt, ms, nextAt, doneAt } = delivery;
  return (
    <div class="page">
      <Outdated failure={resource.failure.value} />
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
    </div>
  );
}
