import { isUnknown, type Call } from '../../support/journal.ts';
import { describeCalls } from './checks/calls.ts';
import { judgedBeats } from './checks/kept.ts';
import { dependencyOf, isAway, isNodeAway, RECOVERY_MS, type Dependency, type History } from './history.ts';
import type { Setting } from './judge.ts';
import type { Story } from './stories.ts';

const calls: readonly Call[] = [
  'create',
  'heartbeat',
  'attach',
  'end',
  'usage',
  'call',
  'send',
  'verify',
  'check',
  'logout',
  'revokeKey',
  'revokeLogin',
];
const dependencies: readonly Dependency[] = ['redis', 'postgres', 'provider', 'mail'];

/** The figures of a campaign: what was done, what was answered, and how fast. */
export function summarize(history: History, stories: ReadonlyMap<string, Story>, setting: Setting): string[] {
  const { faults, stalls } = history;
  const { seed, durationMs, log } = setting;
  return [
    `Seed ${seed}, ${durationMs / 1000} s, ${history.journal.entries.length} requests, ${stories.size} sessions known, ${history.sessions.size} in PostgreSQL`,
    `Faults: ${listed(count(faults.map(({ kind }) => kind)))}`,
    `Ends: ${listed(count([...history.sessions.values()].map(({ reason }) => reason ?? 'none')))}`,
    `Sockets: ${history.journal.sockets.length}, of which ${history.journal.sockets.filter(({ ends }) => ends.length > 0).length} heard an end; closed with ${listed(count(history.journal.sockets.map(({ closeCode, isLeft }) => (isLeft ? 'left' : String(closeCode)))))}`,
    describeHeartbeats(history, stories),
    ...describeCalls(history),
    `Clocks of the nodes: ${setting.skewsMs.map((ms) => `${ms / 1000} s`).join(', ')}`,
    `Some process waited for a processor ${Math.round(stalls.share * 100)} % of the time`,
    ...calls.map((call) => describeCall(call, history)),
    ...recoveries(history),
    ...described('Faults in the logs', log.faults),
    ...described('Starts that failed', log.failedStarts),
  ];
}

/** When each fault began and ended, to compare with what was broken. */
export function timeline({ faults }: History): string[] {
  return [...faults]
    .sort((a, b) => a.from - b.from)
    .map(
      ({ kind, node, from, to }) =>
        `  ${clock(from)} to ${clock(to)} ${kind}${node === undefined ? '' : ` of node ${node}`}`,
    );
}

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}

function describeHeartbeats(history: History, stories: ReadonlyMap<string, Story>): string {
  const ofSockets = [...stories.values()].filter(({ isOnSocket }) => isOnSocket);
  const acknowledged = ofSockets.flatMap(({ heartbeats }) =>
    heartbeats.filter(({ call, outcome }) => call === 'heartbeat' && outcome === 200),
  );
  return `Heartbeats over sockets: ${acknowledged.length} acknowledged, ${history.waited ?? 0} of them before they were saved; of ${judgedBeats(history, stories).size} sessions one had to be kept`;
}

function describeCall(call: Call, { journal, faults }: History): string {
  const entries = journal.of(call);
  const calm = entries.filter(
    (entry) => !isNodeAway(faults, entry, RECOVERY_MS) && !dependencies.some((name) => isAway(faults, name, entry)),
  );
  const millis = (of: typeof entries): string => {
    const sorted = of.map(({ sentAt, doneAt }) => doneAt - sentAt).sort((a, b) => a - b);
    return `${sorted[Math.floor(sorted.length / 2)] ?? '-'}/${sorted[Math.floor(sorted.length * 0.99)] ?? '-'}/${sorted.at(-1) ?? '-'}`;
  };
  const answered = entries.filter(({ outcome }) => typeof outcome === 'number');
  return `${call.padEnd(12)}${listed(count(entries.map(({ outcome }) => String(outcome))))}; ms p50/p99/max of answers ${millis(answered)}, in calm ${millis(calm)}`;
}

/** For how long requests were still refused after a store was back. */
function recoveries({ journal, faults }: History): string[] {
  return faults
    .filter(({ kind }) => dependencyOf(kind) === 'redis' || dependencyOf(kind) === 'postgres')
    .map(({ kind, from, to }) => {
      const after = journal.entries.filter((entry) => entry.doneAt > to && entry.doneAt < to + RECOVERY_MS + 2000);
      const refused = after.filter((entry) => isUnknown(entry) && !isNodeAway(faults, entry, RECOVERY_MS));
      const last = Math.max(0, ...refused.filter(({ outcome }) => outcome === 503).map(({ doneAt }) => doneAt - to));
      return `  ${kind.padEnd(20)} ${String(to - from).padStart(6)} ms; the last refusal ${last} ms after`;
    });
}

function described(title: string, counts: ReadonlyMap<string, number>): string[] {
  return counts.size === 0 ? [] : [`${title}:`, ...[...counts].map(([what, times]) => `  ${times} × ${what}`)];
}

function count(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, times]) => `${times} ${name}`).join(', ');
}
