import { durationEndMs, idleAtMs, nextDeadline, savedState } from '../../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import type { CloseReason } from '../../../machines/voice-call/close-reasons.ts';
import { effectOf } from '../../../machines/voice-call/selectors.ts';
import type { CallLimits } from '../../../machines/voice-call/types.ts';
import type { NewEntry } from '../../stores/journal/contract.ts';
import { dollars, factsOf, type SessionFacts, type QuotaFacts, span, when } from './explain-facts.ts';

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

/** Why a call closed, in words that follow "because". */
export function closedBecause(reason: CloseReason, limits: CallLimits): string {
  return whyClosed[reason]?.(limits) ?? reason.replaceAll('_', ' ');
}

type WhyClosed = (limits: CallLimits) => string;

/** Why a call closed; a later version may add reasons. */
const whyClosed: Readonly<Record<string, WhyClosed | undefined>> = {
  session_ended: () => 'the session ended',
  session_idle: () => 'the session went idle',
  replaced: () => 'another call took its place',
  create_failed: () => 'the answer of the provider never reached the page',
  config_changed: () => 'its page changed, again and again, what its key does not let it change',
  tampered: () =>
    'its page asked, again and again, for more responses or longer ones than it may (MAX_OPEN_RESPONSES), or changed what it may not',
  tool_forged: () => 'its page answered, again and again, tools that Switchboard itself calls',
  tool_ended: () => 'a tool of its agent ended the session, and the agent had said its last words',
  unheard: ({ unheardSec }) =>
    `nobody here could hear its call, or count what it used, for ${unheardSec} s (SIDEBAND_LOST_SEC)`,
  expired: () => "the provider's own longest time was over",
  content: () => 'the provider ended it for what was said',
  remote: ({ graceSec }) =>
    `its page left the call or lost its network, and no other followed within ${graceSec} s (CALL_GRACE_SEC), or while another page could resume it`,
  lost: ({ graceSec }) =>
    `the provider knew its call no more, and no other followed within ${graceSec} s (CALL_GRACE_SEC), or while another page could resume it`,
} satisfies Record<CloseReason, WhyClosed>;

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
