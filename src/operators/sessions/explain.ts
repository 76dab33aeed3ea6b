import { durationEndMs, idleAtMs, nextDeadline, savedState } from '../../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import { effectOf } from '../../../machines/voice-call/selectors.ts';
import type { NewEntry, Entry, Journal } from '../../stores/journal/contract.ts';
import { dollars, factsOf, type SessionFacts, type QuotaFacts, span, when } from './explain-facts.ts';
import { INSTALLATION } from '../../tenants/emergency-stops.ts';
import { nodeSeenBy, type Operator } from '../roles.ts';
import { refOf } from '../../kernel/ids.ts';
import { leverOfShared, totalCeilings } from '../../quota/ceilings.ts';
import type { UsageTotals } from '../../stores/ledger/contract.ts';
import { type SessionCalls, closedBecause } from '../calls/view.ts';
import type { OperatorServices } from '../services.ts';
import type { SessionEvents } from '../journal/view.ts';

export interface Why {
  readonly sentence: string;
  readonly facts: readonly string[];
}

/** Why a session ended, or that it is still open: one sentence with the numbers and what sets them, and further facts. */
export function explain(known: SessionFacts): Why {
  const { endedAtMs, endReason } = known.record;
  const sentence =
    endedAtMs === null || endReason === null
      ? whyOpen[savedState(known.record, known.limits)](known)
      : `Ended ${when(endedAtMs)}${whyEnded[endReason]?.(known, endedAtMs) ?? `: ${endReason.replaceAll('_', ' ')}`}.`;
  return { sentence, facts: factsOf(known) };
}

/** What follows “Ended” and the time, where more is known than the name of the reason; a later version may add reasons. */
const whyEnded: { readonly [R in EndReason]?: (known: SessionFacts, endedAtMs: number) => string } = {
  duration_exceeded: ({ record }, endedAtMs) =>
    endedAtMs === record.wordsDueAtMs
      ? `, because its new visitor had said and written nothing in ${newVisitorLimit(record)}`
      : `, because ${span(endedAtMs - record.startedAtMs)} (MAX_SESSION_MINUTES) were over`,

  idle_exceeded({ record, limits }, endedAtMs) {
    const silence = span(endedAtMs - record.lastActivityAtMs);
    return ` by a heartbeat that came after ${silence} without activity, which is more than ${limits.maxIdleSec} s (MAX_SESSION_IDLE_SEC)`;
  },

  quota_exceeded({ quotas }) {
    const passed = quotas.flatMap(passedIn);
    const named = passed.length === 0 ? quotas.flatMap(ceilingsIn) : passed;
    const which = named.length === 0 ? '' : `: ${named.join(', ')}`;
    return `, because its usage carried a total of the day over its ceiling${which}`;
  },

  closed_by_client: ({ record }, endedAtMs) =>
    `, because its client asked for that, ${span(endedAtMs - record.startedAtMs)} after it began`,

  closed_by_operator({ act }) {
    if (act === undefined) return ' by an operator; the audit has no row of it';
    const how = act.code === 'service.stop' ? ', by the emergency stop' : '';
    return ` by ${act.of.actor ?? ''}${how}, ${reasonOf(act)}`;
  },

  key_revoked({ record, act }) {
    const which = `, because its widget key ${record.tenantId}/${record.keyId ?? '?'} was revoked`;
    if (act === undefined) return `${which} (\`revoked\` in TENANTS_FILE; the audit has no row of it)`;
    return `${which} by ${act.of.actor ?? ''}, ${reasonOf(act)}`;
  },

  upstream_ended(known) {
    const call = known.calls.find(({ closeReason }) => closeReason !== null && effectOf(closeReason) !== 'goes on');
    if (call === undefined || call.closeReason === null) return ', because the provider ended it';
    const why = closedBecause(call.closeReason, known.callLimits);
    return `, because ${why} (call ${call.id})`;
  },

  closed_by_tool({ calls }) {
    const call = calls.find(({ closeReason }) => closeReason === 'tool_ended');
    return `, because a tool of its agent ended it${call === undefined ? '' : `: call ${call.id} names it`}`;
  },

  create_failed: () =>
    ' by Switchboard itself, because a store failed while it was opened; the create was refused, and nobody has its secret',

  abandoned({ record, limits: { staleGraceSec, staleReapSec } }, endedAtMs) {
    const silence = span(endedAtMs - record.lastActivityAtMs);
    return `, because nothing was heard for ${silence}: ${staleGraceSec} s (STALE_GRACE_SEC) until it was stale, then ${staleReapSec} s (STALE_REAP_SEC)`;
  },
};

/** Sentences for sessions that are still open. */
const whyOpen: Readonly<Record<VoiceState, (known: SessionFacts) => string>> = {
  engaged(known) {
    const { record, limits } = known;
    const [ends, idles] = [durationEndMs(record, limits), idleAtMs(record, limits)];
    const over =
      ends === record.wordsDueAtMs
        ? `unless its new visitor says or writes something within ${newVisitorLimit(record)}`
        : `when ${limits.maxMinutes} min (MAX_SESSION_MINUTES) are over`;
    const idling = `goes idle ${when(idles)}, unless somebody is heard within ${limits.maxIdleSec} s (MAX_SESSION_IDLE_SEC)`;
    return ends < idles
      ? `Still open: it ends ${when(ends)}, ${over}.`
      : `Still open: it ${idling}, and ends ${when(ends)} at the latest, ${over}.`;
  },
  idle: (known) =>
    `Still open and idle: nothing was heard for more than ${known.limits.maxIdleSec} s (MAX_SESSION_IDLE_SEC). A heartbeat ends it; without one it is stale ${nextAt(known)}, after ${known.limits.staleGraceSec} s (STALE_GRACE_SEC).`,
  stale: (known) =>
    `Still open and stale: nothing was heard for more than ${known.limits.staleGraceSec} s (STALE_GRACE_SEC). A heartbeat ends it; without one it is closed as abandoned ${nextAt(known)}, after ${known.limits.staleReapSec} s more (STALE_REAP_SEC).`,
  // A record without an end is never saved as ended; see `savedState`.
  ended: (known) => `Still open, though it was due ${nextAt(known)}.`,
};

function newVisitorLimit({ startedAtMs, wordsDueAtMs, tenantId, keyId }: VoiceRecord): string {
  return `${span(wordsDueAtMs - startedAtMs)} (limits.newVisitorSeconds of the key ${tenantId}/${keyId ?? '?'})`;
}

function nextAt({ record, limits }: SessionFacts): string {
  return when(nextDeadline(record, limits));
}

function reasonOf({ detail: { reason }, requestId }: NewEntry<'act'>): string {
  const why = reason === null ? 'who gave no reason' : `who wrote “${reason}”`;
  return requestId === null ? why : `${why} (request ${requestId})`;
}

/** The ceilings that the day's totals have reached. */
function passedIn({ whose, used, ceilings, setBy }: QuotaFacts): string[] {
  const passed: string[] = [];
  if (used === null) return passed;
  if (used.tokens >= ceilings.dailyTokens)
    passed.push(`${whose} has used ${used.tokens} of ${ceilings.dailyTokens} tokens (${setBy.tokens})`);
  if (used.microDollars >= ceilings.dailyMicroDollars)
    passed.push(
      `${whose} has used ${dollars(used.microDollars)} of ${dollars(ceilings.dailyMicroDollars)} (${setBy.dollars})`,
    );
  return passed;
}

/** The present ceilings, where none of them is known to be reached: they were raised since, or the total is hidden. */
function ceilingsIn({ whose, used, ceilings, setBy }: QuotaFacts): string[] {
  const told: string[] = [];
  const may = used === null ? 'may' : 'may now';
  if (Number.isFinite(ceilings.dailyTokens))
    told.push(`${whose} ${may} use ${ceilings.dailyTokens} tokens (${setBy.tokens})`);
  if (Number.isFinite(ceilings.dailyMicroDollars))
    told.push(`${whose} ${may} use ${dollars(ceilings.dailyMicroDollars)} (${setBy.dollars})`);
  return told;
}

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
