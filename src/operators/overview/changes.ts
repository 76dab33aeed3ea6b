import { iso } from '../../kernel/time.ts';
import type { OperatorChanges } from '../../protocol/operator/overview.ts';
import type { ActivityKind, CountChange } from '../../stores/activity/contract.ts';
import type { NewEntry } from '../../stores/journal/contract.ts';
import { readMints } from './mints.ts';

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
