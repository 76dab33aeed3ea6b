import type { OperatorVerdict } from '../../protocol/operator/overview.ts';
import type { DependencyState, OperatorNode } from '../../protocol/operator/node.ts';
import type { CountChange } from '../../stores/activity/contract.ts';
import { readMints, type Mints } from './activity.ts';

/** The fewest mints that allow a verdict, and the thresholds. */
const MIN_MINTS = 5;
const MAX_MINTS_FAILED = 0.1;
const SLOWER = 2;
const MAX_LOOP_MS = 100;
const MAX_FAILED = 0.01;

/** What the verdict is based on. */
export interface Observations {
  /** Counts of the last five minutes, over all tenants; null where they cannot be read. */
  readonly lately: readonly CountChange[] | null;
  /** Counts of the 24 hours up to this time yesterday, as `before`; null where they cannot be read. */
  readonly yesterday: readonly CountChange[] | null;
  /** Whether the database just answered every query, whatever `dependencies` says. */
  readonly isDatabaseRead: boolean;
  readonly nodes: readonly Pick<OperatorNode, 'loopP99Ms'>[];
  readonly dependencies: readonly Pick<DependencyState, 'name' | 'state'>[];
}

/** Whether we or the provider are degraded, and which numbers show it (docs/contract.md, section 8). */
export function judge(observed: Observations): OperatorVerdict {
  const provider = judgeProvider(observed);
  const faults = faultsOfOurs(observed);
  const us = faults.length === 0 ? 'fine' : faults.join(', ');
  return {
    us: faults.length === 0 ? 'fine' : 'degraded',
    provider: provider.state,
    sentence: `Provider: ${provider.words}. Us: ${us}.`,
  };
}

function judgeProvider({ lately, yesterday }: Observations): {
  readonly state: OperatorVerdict['provider'];
  readonly words: string;
} {
  if (lately === null) return { state: 'unknown', words: 'its counts cannot be read' };
  const mints = readMints(lately, 'now');
  const total = sum(mints.map(({ ok, failed }) => ok + failed));
  if (total < MIN_MINTS)
    return { state: 'unknown', words: total === 0 ? 'nothing asked in 5 min' : `only ${total} asked in 5 min` };
  const usual = new Map(readMints(yesterday ?? [], 'before').map((one) => [one.provider, one]));
  const words = mints.flatMap((one) => wrongWith(one, usual.get(one.provider)));
  return words.length === 0 ? { state: 'fine', words: 'fine' } : { state: 'degraded', words: words.join(', ') };
}

function wrongWith(mints: Mints, usual: Mints | undefined): string[] {
  const { provider, ok, failed, byOutcome, p95Sec } = mints;
  const total = ok + failed;
  if (total < MIN_MINTS) return [];
  const words: string[] = [];
  if (failed / total >= MAX_MINTS_FAILED) {
    const most = [...byOutcome].sort(([, one], [, other]) => other - one)[0]?.[0] ?? 'failed';
    words.push(`${Math.round((100 * failed) / total)} % of mints failed in 5 min (${most}, ${provider})`);
  }
  if (p95Sec !== null && usual?.p95Sec != null && p95Sec >= SLOWER * usual.p95Sec)
    words.push(`mints take ${seconds(p95Sec)} instead of ${seconds(usual.p95Sec)} (p95, ${provider})`);
  return words;
}

/** Not counted against us: the provider has a verdict of its own, and without a collector callers are served all the same. */
const NOT_OURS: ReadonlySet<string> = new Set(['provider', 'collector']);

function faultsOfOurs({ lately, isDatabaseRead, nodes, dependencies }: Observations): string[] {
  const away = dependencies.flatMap(({ name, state }) => (state === 'away' && !NOT_OURS.has(name) ? [name] : []));
  if (!isDatabaseRead && !away.includes('database')) away.unshift('database');
  const faults = away.map((name) => `the ${name} is away`);
  const late = Math.max(0, ...nodes.map(({ loopP99Ms }) => loopP99Ms));
  if (late > MAX_LOOP_MS) faults.push(`the event loop is ${Math.round(late)} ms late (p99)`);
  const count = (kind: CountChange['kind']): number =>
    sum((lately ?? []).filter((one) => one.kind === kind).map(({ now }) => now));
  const [requests, failed, dropped] = [count('request'), count('failed'), count('dropped')];
  if (failed > 0 && failed / requests >= MAX_FAILED)
    faults.push(`${((100 * failed) / requests).toFixed(1)} % of ${requests} requests failed in 5 min`);
  if (dropped > 0) faults.push(`${dropped} events were dropped in 5 min`);
  return faults;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

function seconds(n: number): string {
  return `${n.toFixed(2)} s`;
}
