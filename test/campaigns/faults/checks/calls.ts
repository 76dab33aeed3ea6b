import type { TestCall } from '../../../support/provider/call.ts';
import { dependencyOf, RECOVERY_MS, type History } from '../history.ts';
import { billOf, sumOf } from './bill.ts';

/** By this time another node has taken over a dead node's calls and hung up those that must end. */
export const HANG_UP_MS = 12_000;
/** Other processes use the processors as well. */
const NOISE_MS = 500;

/** Every call is hung up within twelve seconds of its session's end; time in which PostgreSQL or the provider is away does not count. */
export function checkHangUps(history: History): string[] {
  return hangUps(history).flatMap(({ call, endedAtMs, lateMs }) =>
    lateMs > HANG_UP_MS + NOISE_MS
      ? [`${history.calls.get(call.id)?.sessionId} ended at ${clock(endedAtMs)}, its call ${lateMs} ms after that`]
      : [],
  );
}

/** Calls that are unknown here are left out: their creates were never answered, so the page got no answer either, and no one speaks. */
export function checkOpenCalls({ provided, calls }: History): string[] {
  return provided.flatMap(({ id, ended, hangups }) => {
    const row = calls.get(id);
    if (row === undefined || (ended !== undefined && row.state === 'closed')) return [];
    const how = ended === undefined ? 'is open' : `ended by ${ended.reason}`;
    return [`${row.sessionId} ${row.id} is ${row.state} here and ${how} at the provider (${hangups.join(' ')})`];
  });
}

export function describeCalls(history: History): string[] {
  const { provided, calls } = history;
  const rows = [...calls.values()];
  const bills = provided.filter(({ id }) => calls.has(id)).map((call) => sumOf(billOf(call)));
  const sum = (of: readonly number[]): number => of.reduce((total, each) => total + each, 0);
  const late = hangUps(history)
    .map(({ lateMs }) => lateMs)
    .sort((a, b) => a - b);
  const reasons = new Map<string, number>();
  for (const { closeReason } of rows) reasons.set(closeReason ?? 'none', (reasons.get(closeReason ?? 'none') ?? 0) + 1);
  const unknown = provided.filter(({ id }) => !calls.has(id));
  return [
    `Calls at the provider: ${provided.length}, of which ${unknown.length} are unknown here; closed with ${[...reasons].map(([name, times]) => `${times} ${name}`).join(', ')}`,
    `  sidebands ${sum(provided.map(({ attached }) => attached))}, hang-ups ${sum(provided.map(({ hangups }) => hangups.length))}; ms from a session's end to its call's p50/p99/max ${late[late.length >> 1]}/${late[Math.floor(late.length * 0.99)]}/${late.at(-1)}`,
    `  tokens counted ${sum(rows.map(({ tokens }) => tokens))} of ${sum(bills.map(({ tokens }) => tokens))}; calls with gaps ${rows.filter(({ gapMs }) => gapMs > 0).length}, of ${sum(rows.map(({ gapMs }) => gapMs))} ms; charged $${sum(rows.map(({ microDollars }) => microDollars)) / 1e6} of $${sum(bills.map(({ pico }) => Number(pico))) / 1e12}`,
  ];
}

interface HangUp {
  readonly call: TestCall;
  readonly endedAtMs: number;
  /** Without the time in which a dependency that is needed was away. */
  readonly lateMs: number;
}

function hangUps(history: History): HangUp[] {
  return history.provided.flatMap((call) => {
    const row = history.calls.get(call.id);
    const endedAtMs = row === undefined ? null : (history.sessions.get(row.sessionId)?.endedAtMs ?? null);
    if (endedAtMs === null || call.ended === undefined) return [];
    const from = Math.max(endedAtMs, call.createdAtMs);
    return [{ call, endedAtMs, lateMs: Math.max(0, presentMs(from, call.ended.atMs, history)) }];
  });
}

/** Milliseconds between two moments during which everything that a hang-up needs was available. */
function presentMs(from: number, to: number, { faults }: History): number {
  const away = faults
    .filter(({ kind }) => ['postgres', 'provider'].includes(dependencyOf(kind)))
    .map((fault) => ({ from: Math.max(from, fault.from), to: Math.min(to, fault.to + RECOVERY_MS) }))
    .filter((window) => window.to > window.from)
    .sort((a, b) => a.from - b.from);
  let present = to - from;
  let until = from;
  for (const window of away) {
    present -= Math.max(0, window.to - Math.max(window.from, until));
    until = Math.max(until, window.to);
  }
  return present;
}

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}
