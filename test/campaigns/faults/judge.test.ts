import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Journal, type Entry } from '../../support/journal.ts';
import type { TestProvider } from '../../support/provider.ts';
import { TestCall } from '../../support/provider/call.ts';
import { ProvidersTalk } from './actors/talkers.ts';
import { chargeOf } from '../../../src/stores/ledger/contract.ts';
import { checkHeartbeats } from './checks/answers.ts';
import { billOf, sumOf } from './checks/bill.ts';
import { checkKept, checkWaited } from './checks/kept.ts';
import { checkMeters } from './checks/meters.ts';
import type { Fault } from './faults.ts';
import type { CallRow, History, LedgerRow, SessionRow } from './history.ts';
import { Random } from './random.ts';
import { CALL_MODEL } from './settings.ts';
import { tellStories } from './stories.ts';

const SESSION = 's:00000000000000000000000000000000:AAAAAAAAAAAAAAAAAAAAAA';

function someCall(): TestCall {
  const session = { model: CALL_MODEL };
  return new TestCall({ id: 'rtc_1', api: 'realtime', credential: 'sk', session, offer: '', headers: {}, url: '' });
}

describe('The provider', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('bills nothing in a call before a sideband has spoken, for no page has its answer until then', () => {
    const call = someCall();
    const talk = new ProvidersTalk({ calls: { all: [call] } } as unknown as TestProvider, new Random(1));
    vi.advanceTimersByTime(60_000);
    expect(call.billed).toEqual([]);
    call.heard.push({ type: 'session.update' });
    vi.advanceTimersByTime(60_000);
    expect(call.billed).not.toEqual([]);
    talk.stop();
  });
});

describe('The meter of a call', () => {
  const NOW = Date.UTC(2026, 6, 1, 12);
  const usage = { total_tokens: 2, input_tokens: 1, output_tokens: 1 };
  const row: CallRow = {
    id: 'call_1',
    sessionId: SESSION,
    providerCallId: 'rtc_1',
    state: 'closed',
    openedAtMs: 1,
    closeReason: 'session_idle',
    tokens: 0,
    gapMs: 0,
    picoMeasured: 0n,
    picoEstimated: 0n,
    microDollars: 0,
  };
  beforeEach(() => void vi.useFakeTimers({ now: NOW }));
  afterEach(() => void vi.useRealTimers());

  type Entry = Partial<Pick<LedgerRow, 'key' | 'tokens' | 'atMs' | 'isEstimated' | 'pico'>>;
  const entry = (change: Entry): LedgerRow => ({
    subject: 'c:1',
    callId: 'call_1',
    key: 'resp_1',
    tokens: 2,
    atMs: NOW,
    isEstimated: false,
    pico: priceOfUsage,
    ...change,
  });
  const responded = someCall();
  responded.respond(usage, 'resp_1');
  const priceOfUsage = billOf(responded)[0]?.pico ?? 0n;

  /** Judges a call with one billed response; its meter is the sum of the entries, unless `change` says otherwise. */
  const judged = (entries: readonly LedgerRow[], change: Partial<CallRow> = {}): string[] => {
    const call = someCall();
    call.respond(usage, 'resp_1');
    const sum = (isEstimated: boolean): bigint =>
      sumOf(entries.filter((each) => each.isEstimated === isEstimated)).pico;
    const meter = { picoMeasured: sum(false), picoEstimated: sum(true), tokens: sumOf(entries).tokens };
    const counted = { ...row, ...meter, microDollars: chargeOf(sum(false) + sum(true)), ...change };
    return checkMeters({
      provided: [call],
      calls: new Map([['rtc_1', counted]]),
      ledger: entries,
    } as unknown as History);
  };
  const estimate = { isEstimated: true, tokens: 500, pico: 7n };

  test('is right when what is billed is counted exactly, and what is marked as estimated may be anything beside it', () => {
    expect(judged([entry({})])).toEqual([]);
    expect(judged([entry({}), entry({ ...estimate, key: 'inherited:1:0' })])).toEqual([]);
  });

  test('is wrong when nothing of a response is counted, unless its call was never open', () => {
    const wrong = [expect.stringContaining('counted nothing of the 2 tokens of resp_1')];
    expect(judged([])).toEqual(wrong);
    expect(judged([entry({ ...estimate, key: 'inherited:1:0' })])).toEqual(wrong);
    expect(judged([], { openedAtMs: null })).toEqual([]);
  });

  test('is right when the response is in a marked gap or its own estimate is enough, and wrong when neither is', () => {
    const gap = (fromMs: number, atMs: number): LedgerRow[] => [
      entry({ ...estimate, tokens: 0, key: `gap:${fromMs}`, atMs }),
    ];
    expect(judged(gap(NOW - 1000, NOW + 1000))).toEqual([]);
    expect(judged(gap(NOW + 1000, NOW + 2000))).toHaveLength(1);
    expect(judged(gap(NOW - 2000, NOW - 1000))).toHaveLength(1);
    expect(judged([entry(estimate)])).toEqual([]);
    expect(judged([entry({ ...estimate, tokens: 1 })])).toHaveLength(1);
  });

  test('is wrong when anything is counted twice or as if it were told, or its charge is no sum of its entries', () => {
    expect(judged([entry({}), entry({})])).toEqual([expect.stringContaining('twice')]);
    expect(judged([entry({}), entry({ key: 'resp_2' })])).toEqual([expect.stringContaining('which nobody billed so')]);
    expect(judged([entry({})], { tokens: 3 })).toEqual([expect.stringContaining('3 tokens on its meter')]);
    expect(judged([entry({})], { microDollars: 0 })).toEqual([expect.stringContaining('charged 0')]);
  });
});

describe('A session that goes on after its acknowledged end', () => {
  const entry = (change: Partial<Entry>): Entry => ({
    call: 'attach',
    node: 1,
    sentAt: 0,
    doneAt: 10,
    outcome: 200,
    code: undefined,
    reason: undefined,
    about: { session: SESSION, email: 'voice0@mail.example' },
    ...change,
  });
  const judged = (lateMs: number, kind: Fault['kind']): string[] => {
    const journal = new Journal();
    journal.add(entry({ call: 'create' }));
    journal.add(entry({ call: 'end', node: 0, sentAt: 1000, doneAt: 1100 }));
    journal.add(entry({ sentAt: 1100 + lateMs, doneAt: 1110 + lateMs }));
    const faults: Fault[] = [{ kind, node: undefined, from: 500, to: 900 }];
    return checkHeartbeats(
      { journal, faults } as unknown as History,
      tellStories(journal, faults, () => false),
    );
  };

  test('keeps the rule for two seconds after Redis froze: a node that found it away alone has still to tell', () => {
    expect(judged(265, 'redis.freeze')).toEqual([]);
    expect(judged(2001, 'redis.freeze')).toEqual([expect.stringContaining('over for 2001 ms went on')]);
  });

  test('breaks it at once after connections broke, of which every node knows', () => {
    expect(judged(265, 'redis.cut')).toEqual([expect.stringContaining('over for 265 ms went on')]);
    expect(judged(265, 'postgres.freeze')).toHaveLength(1);
  });
});

describe('An acknowledged heartbeat of a socket', () => {
  const BEAT_AT = 20_000;
  const beat: Entry = {
    call: 'heartbeat',
    node: 1,
    sentAt: BEAT_AT,
    doneAt: BEAT_AT + 10,
    outcome: 200,
    code: undefined,
    reason: undefined,
    about: { session: SESSION, email: 'sitter0@mail.example' },
  };
  const fault = (kind: Fault['kind'], node: number | undefined, from: number, to = from + 500): Fault => ({
    kind,
    node,
    from,
    to,
  });

  /** Judges a session whose row says when it was last heard, though that heartbeat came after its others. */
  function storyOf(faults: readonly Fault[], row: Partial<SessionRow> = {}, isOnSocket = true) {
    const journal = new Journal();
    journal.add({ ...beat, call: 'create', sentAt: 0, doneAt: 10 });
    journal.add({ ...beat, sentAt: BEAT_AT - 3000, doneAt: BEAT_AT - 2990 });
    journal.add(beat);
    if (isOnSocket) journal.sockets.push({ session: SESSION, node: 1, ends: [], framesAfterEnd: 0, isLeft: true });
    const lastSeenAtMs = BEAT_AT - 3000;
    const kept = { id: SESSION, lastSeenAtMs, endedAtMs: BEAT_AT + 14_000, reason: 'abandoned', ...row };
    const history = { journal, faults, sessions: new Map([[SESSION, kept]]) } as unknown as History;
    const stories = tellStories(journal, faults, () => false);
    return { lost: checkKept(history, stories), engagedUntil: stories.get(SESSION)?.engagedUntil };
  }
  const lost = (...given: Parameters<typeof storyOf>): string[] => storyOf(...given).lost;
  const wrong = [expect.stringContaining('was last heard 3000 ms before')];

  test('is kept if the session was last heard then, or later, and otherwise lost', () => {
    expect(lost([])).toEqual(wrong);
    expect(lost([], { lastSeenAtMs: BEAT_AT })).toEqual([]);
    expect(lost([], { lastSeenAtMs: BEAT_AT + 500 })).toEqual([]);
  });

  test('may be lost with its node when that dies or freezes within a second, but not later, and not with another', () => {
    for (const kind of ['node.kill', 'node.freeze'] as const) {
      expect(lost([fault(kind, 1, BEAT_AT + 900)])).toEqual([]);
      expect(lost([fault(kind, 1, BEAT_AT + 1100)])).toEqual(wrong);
      expect(lost([fault(kind, 2, BEAT_AT + 900)])).toEqual(wrong);
    }
    expect(lost([fault('node.stop', 1, BEAT_AT + 900)])).toEqual(wrong);
  });

  test('must be kept at once if it came over HTTP, unless both its node and a store are away', () => {
    expect(lost([fault('node.kill', 1, BEAT_AT + 900)], {}, false)).toEqual(wrong);
    const away = fault('redis.freeze', undefined, BEAT_AT - 500, BEAT_AT + 500);
    expect(lost([away, fault('node.kill', 1, BEAT_AT + 900)], {}, false)).toEqual([]);
  });

  test('must be kept when the session is ended a second later, and by the clock', () => {
    expect(lost([], { endedAtMs: BEAT_AT + 900, reason: 'closed_by_client' })).toEqual([]);
    expect(lost([], { endedAtMs: BEAT_AT + 1100, reason: 'closed_by_client' })).toEqual(wrong);
  });

  test('is not looked for where Redis lost it, or was away at the end', () => {
    expect(lost([fault('redis.flush', undefined, BEAT_AT + 5000)])).toEqual([]);
    expect(lost([fault('redis.flush', undefined, BEAT_AT - 10_000)])).toEqual(wrong);
    expect(lost([fault('redis.freeze', undefined, BEAT_AT + 13_900)])).toEqual([]);
    expect(lost([fault('redis.freeze', undefined, BEAT_AT + 5000)])).toEqual(wrong);
  });

  test('keeps its session engaged, unless it died with its node', () => {
    const from = (faults: readonly Fault[]): number => storyOf(faults).engagedUntil ?? 0;
    expect(from([])).toBe(BEAT_AT + 7000);
    expect(from([fault('redis.flush', undefined, BEAT_AT + 100)])).toBe(BEAT_AT + 7000);
    expect(from([fault('node.kill', 1, BEAT_AT + 100)])).toBe(BEAT_AT + 4000);
  });

  test('shows nothing if none was answered before it was saved', () => {
    const of = (waited: number | undefined): History => ({ waited }) as unknown as History;
    expect([0, 1, undefined].map((waited) => checkWaited(of(waited)))).toEqual([['none was'], [], []]);
  });
});
