import { useRoute } from 'preact-iso';
import type { OperatorKey } from '../../../protocol/operator/key.ts';
import { auditOf, sessionsOf } from '../data/links.ts';
import { mayChange, me } from '../data/identity.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import { now } from '../data/server-time.ts';
import type { RefusalPage, UsageReport, Keys } from '../data/shapes.ts';
import { askedRange, dayIn } from '../data/usage-range.ts';
import { Fact, Section } from '../components/card.tsx';
import { Page, Unread } from '../components/page.tsx';
import { KeyStanding } from '../components/status-marks.tsx';
import { Matter } from '../components/matters.tsx';
import { OpenButton } from '../components/modal.tsx';
import { Moment } from '../components/times.tsx';
import { Empty, knownOf, Warning } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';
import { warningWords, limitWords } from '../labels/keys.ts';
import { PauseKeyDialog, RevokeKeyDialog } from './key/key-dialogs.tsx';
import { KeyRefusals } from './key/key-refusals.tsx';
import { KeyToCopy } from './key/key-to-copy.tsx';
import { KeyTrend } from './key/key-trend.tsx';
import { DAY_MS } from '../data/durations.ts';

const watch = { topics: ['counts', 'audit'] } as const;
const WEEK_MS = 7 * DAY_MS;

/** What pages with the key can do in a call that Switchboard opens. */
const CHANNELS = {
  none: 'none: pages are a microphone and a speaker',
  open: 'open: pages speak to the provider themselves',
  unset: 'as the agent says, else open',
} as const;

/** One widget key: what it may do, what it does, and whether that is more than a week ago. */
export function KeyPage() {
  const { params } = useRoute();
  const [tenantId = '', id = ''] = [params['tenantId'], params['keyId']];
  const resource = useResource<Keys>(`/api/operator/keys${queryText({ tenantId })}`, watch);
  const keys = knownOf(resource);
  const title = `Key ${tenantId}/${id}`;
  if (keys === undefined) return <Unread title={title} heading="Key" resource={resource} what="this key" />;
  const found = keys.keys.find((key) => key.id === id);
  if (found === undefined)
    return (
      <Page title={title}>
        <h1>Key</h1>
        <Empty title="There is no such key" link={['/console/keys', 'See the keys that there are']} />
      </Page>
    );
  const agents = keys.tenants.find((tenant) => tenant.id === tenantId)?.agents ?? [];
  return (
    <Page key={title} title={title} resource={resource}>
      <FoundKey found={found} agents={agents} />
    </Page>
  );
}

interface FoundKeyProps {
  readonly found: OperatorKey;
  readonly agents: readonly string[];
}

function FoundKey({ found, agents }: FoundKeyProps) {
  const { tenantId, id, label, origin, pausedAt, revokedAt, live } = found;
  const closedAt = revokedAt ?? pausedAt;
  const refusals = useResource<RefusalPage>(`/api/operator/refusals${queryText({ tenantId, keyId: id })}`, watch);
  const day = dayIn(me.value?.timeZone ?? 'UTC', now.peek() - WEEK_MS);
  const asked = queryText({ by: 'key', tenantId, limit: '200', ...askedRange({ from: day, to: day }, now.peek()) });
  const usage = useResource<UsageReport>(`/api/operator/usage${asked}`, watch, { isPast: true });
  const report = knownOf(usage);
  const row = report?.rows.find((each) => each.id === `${tenantId}/${id}`);
  const spentThen = report === undefined ? undefined : (row?.dollars ?? (report.nextCursor === null ? 0 : undefined));
  return (
    <>
      <div class="title-row">
        <h1>
          {tenantId}/{id}
        </h1>
        <KeyStanding {...found} />
        {label !== '' && <span class="soft">{label}</span>}
        <span class="spring" />
        {mayChange.value && revokedAt === null && (
          <>
            <OpenButton verb={pausedAt === null ? 'Pause' : 'Resume'} opens={<PauseKeyDialog {...found} />} />
            <OpenButton verb="Revoke" kind="danger" opens={<RevokeKeyDialog tenantId={tenantId} id={id} />} />
          </>
        )}
      </div>
      {closedAt !== null && (
        <p class="stepped">
          <span>
            {revokedAt === null ? 'Paused' : 'Revoked'} <Moment at={closedAt} />
            {revokedAt === null ? ': it opens no new sessions.' : ', for ever.'}
          </span>
          <a href={auditOf(`${tenantId}/${id}`)}>Who did that?</a>
        </p>
      )}
      {found.warnings.length > 0 && (
        <Matter degree="watch">
          This key is open: {warningWords(found.warnings)}. Every browser can read it, so whoever copies it has a free
          model.
        </Matter>
      )}
      <div class="columns">
        <KeyTrend found={found} spentThen={spentThen} />
        <KeyRefusals found={found} resource={refusals} />
        <Section title="The key">
          <KeyToCopy widgetKey={found} agents={agents} />
          <dl class="facts">
            <Fact name="Origin">{origin}</Fact>
            <Fact name="Agents">
              {found.agents === null ? (
                <>
                  <Warning /> any of the tenant, or none
                </>
              ) : (
                found.agents.join(', ') || 'none'
              )}
            </Fact>
            <Fact name="Overrides">
              {found.allowOverrides ? (
                <>
                  <Warning /> allowed: a page may ask for any model and instructions
                </>
              ) : (
                'none: pages get the agent as it is'
              )}
            </Fact>
            <Fact name="Calls">{found.call ?? 'as set for all'}</Fact>
            <Fact name="Data channel">{CHANNELS[found.dataChannel ?? 'unset']}</Fact>
            <Fact name="Challenges">
              {[found.bots?.provider, found.bots?.challenge].filter(Boolean).join(', ') || 'as set for all'}
            </Fact>
            <Fact name="A visitor">{limitWords(found.limits) || 'as set for all'}</Fact>
            <Fact name="All visitors">
              {found.warnings.includes('no_totals') && <Warning />} {limitWords(found.totals) || 'no limit of the key'}
            </Fact>
            <Fact name="Live">
              {live === 0 ? (
                '0'
              ) : (
                <a href={sessionsOf(found)}>
                  {countText(live)} {live === 1 ? 'session' : 'sessions'}
                </a>
              )}
            </Fact>
            <Fact name="Audit">
              <a href={auditOf(`${tenantId}/${id}`)}>What was done to it</a>
            </Fact>
          </dl>
        </Section>
      </div>
    </>
  );
}
