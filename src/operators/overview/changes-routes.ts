import { DAY_MS, iso } from '../../kernel/time.ts';
import { actorSeenBy, within } from '../roles.ts';
import { LONGEST_SPAN_MS, movedBetween, readMints } from './activity.ts';
import { changesSince, operatorChanges, type OperatorChanges } from '../../protocol/operator/overview.ts';
import type { Journal, JournalQuery, NewEntry } from '../../stores/journal/contract.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { operatorRoute } from '../operator-route.ts';
import type { Services } from '../../http/services.ts';
import type { ActivityKind, CountChange } from '../../stores/activity/contract.ts';

const MAX_DAYS = LONGEST_SPAN_MS / DAY_MS;
const MAX_HAPPENED = 200;

export function changesRoute({ core }: Services): Route {
  const { activity, journal } = core.stores;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/changes',
    operationId: 'listChanges',
    summary: 'Get what has changed since a given time',
    description: `Counts of at least ten that changed by half or more against the preceding span of equal length, of at most ${MAX_DAYS} days. If there is too much to add up the reply is QUERY_TOO_BROAD: ask for a shorter span. Users limited to some tenants see the counts of those, but neither processes nor actions of operators. With tenantId the reply has the counts of that tenant, and what operators did to it.`,
    query: changesSince,
    reply: {
      description: 'What changed and what happened',
      schema: operatorChanges,
      example: {
        from: '2029-12-31T12:00:00.000Z',
        to: '2030-01-01T12:00:00.000Z',
        previousFrom: '2029-12-30T12:00:00.000Z',
        moved: [{ what: 'ORIGIN_MISMATCH', now: 312, before: 30, factor: 10.4 }],
        happened: [
          {
            at: '2030-01-01T09:12:00.000Z',
            kind: 'node',
            sentence: 'A process started on voice-3: 0.1.0 → 0.1.1.',
            href: '/console/nodes',
          },
        ],
      },
    },
    refusals: ['QUERY_TOO_BROAD'],
    handle: async (call, { since, tenantId }) => {
      const { atMs } = call.request;
      const fromMs = since === undefined ? atMs - DAY_MS : Date.parse(since);
      if (fromMs >= atMs) return wrongField('since', 'must be in the past');
      if (atMs - fromMs > LONGEST_SPAN_MS)
        return new Refusal('QUERY_TOO_BROAD', `A span has at most ${MAX_DAYS} days here; ask with a later since.`);
      const seesAll = call.operator.tenants === '*';
      const { tenants } = within(call.operator, tenantId);
      const done: JournalQuery<'act'> = { kinds: ['act'], tenants, fromMs, beforeMs: atMs + 1 };
      const [moved, runs, known, acts] = await Promise.all([
        movedBetween(activity, fromMs, atMs, atMs, tenants),
        tenants === '*' ? startsWithin(fromMs, atMs, journal) : [],
        tenants === '*' ? startsWithin(0, fromMs - 1, journal) : [],
        seesAll ? journal.list(done, undefined, MAX_HAPPENED) : { entries: [] },
      ]);
      if (moved === undefined)
        return new Refusal('QUERY_TOO_BROAD', 'This is too much to add up; ask with a later since.');
      return {
        from: iso(fromMs),
        to: iso(atMs),
        previousFrom: iso(fromMs - (atMs - fromMs)),
        moved: whatMoved(moved),
        happened: whatHappened(
          runs,
          known,
          acts.entries.map(({ atMs: doneAtMs, code, of }) => ({
            atMs: doneAtMs,
            actor: actorSeenBy(call.operator, of.actor ?? ''),
            action: code,
            target: of.target ?? '',
          })),
        ).slice(0, MAX_HAPPENED),
      };
    },
  });
}

/** The processes that started within a span, newest first. */
async function startsWithin(fromMs: number, toMs: number, journal: Pick<Journal, 'list'>) {
  const wanted = { kinds: ['process'], tenants: '*', code: 'started', fromMs, beforeMs: toMs + 1 } as const;
  return (await journal.list(wanted, undefined, MAX_HAPPENED)).entries;
}

/** Smaller changes are taken for chance. */
const MIN_FACTOR = 1.5;
const MIN_EVENTS = 10;

type Change = OperatorChanges['moved'][number];
type NotableEvent = OperatorChanges['happened'][number];

/** What each kind of count is called; null for kinds that are not reported by themselves. */
const names: Readonly<Record<ActivityKind, ((label: string) => string) | null>> = {
  started: (caller) => `sessions started (${caller})`,
  ended: (reason) => `sessions ended (${reason})`,
  refused: (code) => code,
  request: () => 'requests',
  failed: () => 'requests that failed',
  dropped: (what) => `${what}s dropped`,
  kept: null,
  challenged: null,
  mint: null,
};

/** Counts that changed by a factor of at least 1.5 against the span before, in either direction, largest factor first. */
export function whatMoved(moved: readonly CountChange[]): Change[] {
  const counts = moved.flatMap(({ kind, label, now, before }): Change[] => {
    const name = names[kind];
    return name === null || Math.max(now, before) < MIN_EVENTS ? [] : [change(name(label), now, before)];
  });
  return [...counts, ...mintsOf(moved)].filter(isMuch).sort((one, other) => size(other) - size(one));
}

/** Failures and durations of mints; durations only where both spans have enough mints. */
function mintsOf(moved: readonly CountChange[]): Change[] {
  const before = new Map(readMints(moved, 'before').map((mints) => [mints.provider, mints]));
  return readMints(moved, 'now').flatMap(({ provider, ok, failed, p95Sec }) => {
    const then = before.get(provider);
    const changes: Change[] = [];
    if (Math.max(failed, then?.failed ?? 0) >= MIN_EVENTS)
      changes.push(change(`mints that failed (${provider})`, failed, then?.failed ?? 0));
    if (p95Sec !== null && then?.p95Sec != null && Math.min(ok, then.ok) >= MIN_EVENTS)
      changes.push(change(`mint p95 seconds (${provider})`, round(p95Sec), round(then.p95Sec)));
    return changes;
  });
}

function change(what: string, now: number, before: number): Change {
  return { what, now, before, factor: before === 0 ? null : round(now / before) };
}

function isMuch(one: Change): boolean {
  return size(one) >= MIN_FACTOR;
}

function size({ now, before }: Change): number {
  const [most, least] = [Math.max(now, before), Math.min(now, before)];
  return least === 0 ? Infinity : most / least;
}

type Start = NewEntry<'process'>;

/** What an operator did. */
interface Act {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
}

/** Starts of processes and acts of operators, newest first. @param known processes that started before, newest first */
export function whatHappened(runs: readonly Start[], known: readonly Start[], acts: readonly Act[]): NotableEvent[] {
  const started = runs.map((run): NotableEvent & { readonly atMs: number } => ({
    atMs: run.atMs,
    at: iso(run.atMs),
    kind: 'node',
    sentence: startSentence(run, [...runs, ...known]),
    href: '/console/nodes',
  }));
  const done = acts.map(({ atMs, actor, action, target }) => ({
    atMs,
    at: iso(atMs),
    kind: 'audit' as const,
    sentence: `${actor}: ${action} ${target}.`,
    href: '/console/audit',
  }));
  return [...started, ...done]
    .sort((one, other) => other.atMs - one.atMs)
    .map(({ at, kind, sentence, href }) => ({ at, kind, sentence, href }));
}

function startSentence({ atMs, detail: run }: Start, others: readonly Start[]): string {
  const before = others.find((one) => one.detail.host === run.host && one.atMs < atMs)?.detail;
  if (before === undefined) return `A process started on ${run.host}, version ${run.version}.`;
  const words = [
    ...(before.version === run.version ? [] : [`${before.version} → ${run.version}`]),
    ...(before.configHash === run.configHash ? [] : ['its settings changed']),
  ];
  return `A process started on ${run.host}${words.length === 0 ? '' : `: ${words.join(', ')}`}.`;
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}
