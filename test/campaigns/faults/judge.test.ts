import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Journal, type Entry } from '../../support/journal.ts';
import type { TestProvider } from '../../support/provider.ts';
import { TestCall } from '../../support/provider/call.ts';
import { ProvidersTalk } from './actors/talkers.ts';
import { checkHeartbeats } from './checks/answers.ts';
import { checkMeters } from './checks/calls.ts';
import type { Fault } from './faults.ts';
import type { CallRow, History } from './history.ts';
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

describe('A call of which less is counted than the provider bills, and no gap is marked,', () => {
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
  const judged = (change: Partial<CallRow>): string[] => {
    const call = someCall();
    call.respond(usage);
    return checkMeters({ provided: [call], calls: new Map([['rtc_1', { ...row, ...change }]]) } as unknown as History);
  };

  test('breaks the rule when it was open', () => {
    expect(judged({})).toEqual([expect.stringContaining('counted 0 tokens of 2, and marked no gap')]);
  });

  test('keeps it when it was never open, whatever it closed for', () => {
    expect(judged({ openedAtMs: null })).toEqual([]);
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
