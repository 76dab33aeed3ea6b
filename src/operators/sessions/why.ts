import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { INSTALLATION } from '../../tenants/emergency-stops.ts';
import { nodeSeenBy, type Operator } from '../roles.ts';
import { refOf } from '../../kernel/ids.ts';
import { leverOfShared, totalCeilings } from '../../quota/ceilings.ts';
import type { Entry, Journal } from '../../stores/journal/contract.ts';
import type { UsageTotals } from '../../stores/ledger/contract.ts';
import { explain, type Why } from './explain.ts';
import type { QuotaFacts } from './explain-facts.ts';
import type { SessionCalls } from '../calls/view.ts';
import type { SessionEvents } from '../journal/read.ts';
import type { OperatorServices } from '../services.ts';

interface WhyInput extends SessionCalls, SessionEvents {
  readonly record: VoiceRecord;
  /** The result of `actOf`. */
  readonly act: Entry<'act'> | undefined;
  /** The session's total usage; undefined where it used nothing. */
  readonly used: UsageTotals | undefined;
  readonly atMs: number;
  /** Who asks. */
  readonly operator: Operator;
}

/** Explains the state of a session. @throws Unavailable when the database is away */
export async function whyOf(
  { record, records, meters, page, lost, act, used, atMs, operator }: WhyInput,
  services: OperatorServices,
): Promise<Why> {
  return explain({
    record,
    limits: services.sessions.limits,
    heartbeatIntervalSec: services.core.config.heartbeatIntervalSec,
    callLimits: services.core.config.calls,
    atMs,
    calls: records,
    meters,
    events: page.entries.map((event) => ({ ...event, node: nodeSeenBy(operator, event.node) })),
    lost,
    used,
    act,
    quotas: record.endReason === 'quota_exceeded' ? await quotasOf(record, operator, services) : [],
  });
}

/** The act that ended a session, directly or by revoking its key; later acts found it ended. @throws Unavailable when the database is away */
export async function actOf(record: VoiceRecord, { core }: OperatorServices): Promise<Entry<'act'> | undefined> {
  const { journal } = core.stores;
  const { id, tenantId, keyId, endReason, endedAtMs } = record;
  if (endedAtMs === null) return undefined;
  if (endReason === 'closed_by_operator')
    return (await journal.latestAct('session.end', refOf(id), endedAtMs)) ?? stopThatEnded(record, journal);
  if (endReason === 'key_revoked' && keyId !== null)
    return journal.latestAct('key.revoke', `${tenantId}/${keyId}`, endedAtMs);
  return undefined;
}

/** A stop ends only sessions that began before it. */
async function stopThatEnded(
  { tenantId, startedAtMs, endedAtMs }: VoiceRecord,
  journal: Pick<Journal, 'latestAct'>,
): Promise<Entry<'act'> | undefined> {
  for (const target of [tenantId, INSTALLATION]) {
    const stop = await journal.latestAct('service.stop', target, endedAtMs ?? startedAtMs);
    if (stop !== undefined && stop.atMs >= startedAtMs) return stop;
  }
  return undefined;
}

async function quotasOf(record: VoiceRecord, { tenants }: Operator, services: OperatorServices): Promise<QuotaFacts[]> {
  const { subject, caller, tenantId, keyId, endedAtMs } = record;
  const { day } = services.usage.calendar(endedAtMs ?? record.settledAtMs);
  const kind = caller === 'widget' ? 'WIDGET' : 'CONSOLE';
  const ofCaller: QuotaFacts = {
    whose: 'the caller',
    // A console user's day adds up over all tenants, and no tenant's operators may learn that total.
    used: caller === 'console' && tenants !== '*' ? null : await services.core.stores.ledger.totals(subject, day),
    ceilings: services.usage.limitsOf(caller, tenantId, keyId),
    setBy: {
      tokens: `${kind}_MAX_TOKENS_DAILY${overrideOf(keyId, 'limits.dailyTokens')}`,
      dollars: `${kind}_MAX_DOLLARS_DAILY${overrideOf(keyId, 'limits.dailyDollars')}`,
    },
  };
  const shared = services.usage
    .sharedOf(tenantId, keyId)
    .map(async ({ account, whose, totals }): Promise<QuotaFacts> => {
      const ofKey = whose === 'key' ? ' of the key' : '';
      return {
        whose: whose === 'key' ? 'the widget key' : 'the tenant',
        used: await services.core.stores.ledger.totals(account, day),
        ceilings: totalCeilings(totals),
        setBy: {
          tokens: `${leverOfShared('tokensDaily', whose)}${ofKey}`,
          dollars: `${leverOfShared('dollarsDaily', whose)}${ofKey}`,
        },
      };
    });
  return [ofCaller, ...(await Promise.all(shared))];
}

function overrideOf(keyId: string | null, field: string): string {
  return keyId === null ? '' : `, or ${field} of the key`;
}
