import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Journal, type Entry } from '../../support/journal.ts';
import type { TestProvider } from '../../support/provider.ts';
import { TestCall } from '../../support/provider/call.ts';
import { ProvidersTalk } from './actors/talkers.ts';
import { chargeOf } from '../../../src/stores/ledger/contract.ts';
import { checkHeartbeats } from './checks/answers.ts';
import { billOf, sumOf } from './checks/bill.ts';
import { checkMeters } from './checks/meters.ts';
import type { Fault } from './faults.ts';
import type { CallRow, History, LedgerRow } from './history.ts';
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
