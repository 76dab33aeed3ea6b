import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ifAway, Unavailable } from '../../../src/kernel/errors.ts';
import type { MeteredCall, UsageEvent } from '../../../src/metering/contract.ts';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { SERVICE_TOKEN, unique } from '../../support/app.ts';
import { MINUTE, NOON, SECOND } from '../../support/clock.ts';
import { app, useApp } from '../../support/use-apps.ts';

const { database } = useApp();

const day = '2030-01-02';

/** A call of a new session, of the key or of a new one. */
async function openCall(key?: WidgetKey, changes: Partial<MeteredCall> = {}): Promise<MeteredCall> {
  const its = key ?? (await app.key());
  const sessionId = await app.open(its);
  const subject = app.service.subjects.widgetKey(its.tenantId, its.id);
  return {
    callId: unique('call_'),
    sessionId,
    subject,
    caller: 'widget',
    tenantId: its.tenantId,
    keyId: its.id,
    model: 'gpt-realtime-2.1',
    price: null,
    ...changes,
  };
}

/** A response with this many text tokens out, which cost 24 micro-dollars each. */
const response = (key: string, textOut = 1) =>
  ({ type: 'usage', key, model: undefined, tokens: { ...NO_TOKENS, textOut } }) satisfies UsageEvent;

const hear = (call: MeteredCall, ...events: UsageEvent[]) => {
  for (const event of events) app.service.metering.hear(call, event, app.clock.now());
  // While the database is away, usage waits.
  return app.service.metering.flushCall(call.callId).catch(ifAway(() => undefined));
};
const totals = ({ subject }: MeteredCall) => app.service.stores.ledger.totals(subject, day);
const meterOf = async ({ callId }: MeteredCall) => (await app.service.stores.ledger.metersOf([callId]))[0];
const metric = async (line: string): Promise<number> => {
  const { text } = await app.get('/metrics', { authorization: `Bearer ${SERVICE_TOKEN}` });
  const found = text.split('\n').find((each) => each.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1));
};

describe('Usage that a call was heard to have', () => {
  test('is priced and counted for its subject and its key, once', async () => {
    const key = await app.key();
    const call = await openCall(key);
    await hear(call, response('r1', 10), response('r2', 5), response('r1', 10));
    expect(await totals(call)).toEqual({ tokens: 15, microDollars: 360 });
    const ofKey = await app.service.stores.ledger.totals(`key:acme:${key.id}`, day);
    expect(ofKey).toEqual({ tokens: 15, microDollars: 360 });
    expect(await meterOf(call)).toMatchObject({ basis: 'events', tokens: { textOut: 15 }, microDollars: 360 });
    const labels = 'model="gpt-realtime-2.1",basis="events"';
    expect(await metric(`switchboard_metered_tokens_total{${labels}}`)).toBe(15);
    expect(await metric(`switchboard_metered_micro_dollars_total{${labels}}`)).toBe(360);
  });

  test('is priced by its own model where it names one, and by the agent’s price where that is the call’s', async () => {
    const price = { per1M: { textOut: 1_000_000 }, estimatePerMinute: 1 };
    const call = await openCall(undefined, { price });
    const transcript = { ...response('t1', 1), model: 'gpt-4o-transcribe' } as UsageEvent;
    await hear(call, response('r1', 1), transcript, { type: 'usageTime', key: 't2', model: 'whisper-1', ms: 1000 });
    expect((await totals(call)).microDollars).toBe(1 + 10 + 100);
  });

  test('of a dated snapshot is named in the metrics as its model is listed', async () => {
    const call = await openCall(undefined, { model: 'gpt-realtime-2.1-2026-05-07' });
    await hear(call, response('r1', 10));
    expect((await totals(call)).microDollars).toBe(240);
    expect(await metric('switchboard_metered_tokens_total{model="gpt-realtime-2.1",basis="events"}')).toBe(10);
  });

  test('of a model that no list has is priced at the dearest rates and told of once', async () => {
    const call = await openCall(undefined, { model: 'mystery' });
    await hear(call, response('r1', 1), response('r2', 1));
    expect((await totals(call)).microDollars).toBe(48);
    expect(app.logged().match(/model\.unpriced/g)).toHaveLength(1);
    expect(await metric('switchboard_metered_tokens_total{model="unpriced",basis="events"}')).toBe(2);
  });

  test('by the clock is the highest total, to the micro-dollar', async () => {
    const call = await openCall(undefined, { model: 'gpt-live-1' });
    for (const ms of [15_000, 1000, 90_001.2, 15_000]) await hear(call, { type: 'usageTotal', ms });
    expect(await meterOf(call)).toMatchObject({ basis: 'clock', microDollars: 75_002 });
    app.service.metering.gap(call, NOON, NOON + MINUTE);
    await app.service.metering.flushCall(call.callId);
    expect(await meterOf(call)).toMatchObject({ microDollars: 75_002 });
  });

  test('by the clock is at least the minimum of its model, which is charged at the start and is a part of the time', async () => {
    const call = await openCall(undefined, { model: 'gpt-live-1' });
    const begin = async (...calls: MeteredCall[]) => {
      for (const each of calls) app.service.metering.begin(each, app.clock.now());
      for (const each of calls) await app.service.metering.flushCall(each.callId);
    };
    await begin(call, call);
    expect(await meterOf(call)).toMatchObject({ basis: 'clock', microDollars: 12_500 });
    await hear(call, { type: 'usageTotal', ms: 2000 });
    expect(await meterOf(call)).toMatchObject({ microDollars: 12_500 });
    await hear(call, { type: 'usageTotal', ms: 90_000 });
    await begin(call);
    expect(await meterOf(call)).toMatchObject({ microDollars: 75_000 });
    const others = await openCall();
    await begin(others);
    expect(await meterOf(others)).toBeUndefined();
  });

  test('that carries a total over a ceiling ends the sessions that the ceiling is of', async () => {
    const key = await app.key({ limits: { dailyDollars: 0.001, concurrentSessions: 9 } });
    const [call, other] = [await openCall(key), await openCall(key)];
    const stranger = await openCall();
    await hear(call, response('r1', 41));
    expect((await app.sessions.find(call.sessionId))?.endReason).toBe(null);
    await hear(call, response('r2', 1));
    for (const { sessionId } of [call, other])
      expect((await app.sessions.find(sessionId))?.endReason).toBe('quota_exceeded');
    expect((await app.sessions.find(stranger.sessionId))?.endReason).toBe(null);
  });

  test('that carries the key’s total over its ceiling ends the sessions of all its visitors', async () => {
    const key = await app.key({ totals: { tokensDaily: 10 } });
    const visitor = await app.open(key, { email: 'visitor@example.com' });
    await hear(await openCall(key), response('r1', 11));
    expect((await app.sessions.find(visitor))?.endReason).toBe('quota_exceeded');
  });

  test('in any order and with any repeats is counted to the micro-dollar', async () => {
    const event = fc.record({ key: fc.nat(6), rest: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 25 }), async (events) => {
        const call = await openCall(await app.key({ limits: { dailyTokens: 1e9, dailyDollars: 1e5 } }));
        const tokensOf = (key: number) => ({ ...NO_TOKENS, textCached: key + 1, audioOut: key });
        await hear(call, ...events.map(({ key }) => ({ ...response(`r${key}`), tokens: tokensOf(key) })));
        const keys = [...new Set(events.map(({ key }) => key))];
        const tenths = keys.reduce((sum, key) => sum + (key + 1) * 4 + key * 640, 0);
        expect((await totals(call)).microDollars).toBe(Math.ceil(tenths / 10));
      }),
      { numRuns: 15 },
    );
  });
});

describe('A gap in what was heard', () => {
  const gap = async (call: MeteredCall, fromMs: number, untilMs: number) => {
    app.service.metering.gap(call, fromMs, untilMs);
    await app.service.metering.flushCall(call.callId);
    return meterOf(call);
  };

  test('costs what the minute before it did, and is an estimate', async () => {
    const call = await openCall();
    await hear(call, response('r0', 1));
    app.clock.advance(MINUTE);
    await hear(call, response('r1', 100));
    app.clock.advance(30 * SECOND);
    await hear(call, response('r2', 100));
    const now = app.clock.now();
    expect(await gap(call, now, now + 15 * SECOND)).toMatchObject({
      microDollars: 201 * 24 + (200 * 24) / 4,
      estimatedMicroDollars: 1200,
      gapMs: 15 * SECOND,
    });
    // The same gap is reported again, by this node or another.
    expect(await gap(call, now, now + 15 * SECOND)).toMatchObject({ gapMs: 15 * SECOND });
  });

  test('costs what the model is expected to, where the minute before was not heard', async () => {
    const call = await openCall();
    expect(await gap(call, NOON, NOON + 20 * SECOND)).toMatchObject({ microDollars: 100_000, gapMs: 20 * SECOND });
    expect(await metric('switchboard_metered_micro_dollars_total{model="gpt-realtime-2.1",basis="estimated"}')).toBe(
      100_000,
    );
    expect(await gap(call, NOON, NOON)).toMatchObject({ gapMs: 20 * SECOND });
  });

  test('is charged once, however often and by whatever its time is told', async () => {
    const call = await openCall();
    await gap(call, NOON, NOON + 10 * SECOND);
    await gap(call, NOON + 5 * SECOND, NOON + 15 * SECOND);
    await gap(call, NOON + 20 * SECOND, NOON + 25 * SECOND);
    expect(await gap(call, NOON, NOON + 30 * SECOND)).toMatchObject({ gapMs: 30 * SECOND, microDollars: 150_000 });
  });

  test('holds usage that cannot be read: from when usage was heard last, once', async () => {
    const call = await openCall();
    await hear(call, response('r1', 1));
    app.clock.advance(2 * SECOND);
    await hear(
      call,
      { type: 'usageUnreadable', key: 'r2' },
      {
        ...response('r3'),
        tokens: { ...NO_TOKENS, textIn: -1 },
      },
    );
    expect(await meterOf(call)).toMatchObject({
      gapMs: 2 * SECOND,
      estimatedMicroDollars: 10_000,
      tokens: { textIn: 0 },
    });
    expect(await metric('switchboard_usage_unreadable_total')).toBe(2);
    const clock = await openCall(undefined, { model: 'gpt-live-1' });
    await hear(clock, { type: 'usageUnreadable', key: undefined }, { type: 'usageTotal', ms: NaN });
    expect(await meterOf(clock)).toBeUndefined();
  });

  test('of ten usages that cannot be read within 31 seconds is of 31 seconds', async () => {
    const call = await openCall();
    await hear(call, response('r0', 1));
    for (let n = 1; n <= 10; n += 1) {
      app.clock.advance(3.1 * SECOND);
      await hear(call, { type: 'usageUnreadable', key: `r${n}` });
    }
    expect(await meterOf(call)).toMatchObject({ gapMs: 31 * SECOND, estimatedMicroDollars: 155_000 });
  });
});

describe('A response whose cost nobody tells', () => {
  const estimated: UsageEvent = {
    type: 'usageEstimated',
    key: 'r1',
    tokens: { ...NO_TOKENS, textIn: 100, audioOut: 10 },
  };

  test('is priced by the tokens that it is taken to have, which count, and is an estimate', async () => {
    const call = await openCall();
    await hear(call, estimated);
    expect(await totals(call)).toEqual({ tokens: 110, microDollars: 100 * 4 + 10 * 64 });
    expect(await meterOf(call)).toMatchObject({ estimatedMicroDollars: 1040, gapMs: 0 });
  });

  test('is counted once, also where its provider tells it in the end, or tells it on another node', async () => {
    const call = await openCall();
    await hear(call, estimated, response('r1', 1), estimated);
    expect(await totals(call)).toEqual({ tokens: 110, microDollars: 1040 });
  });
});

describe('While the database is away usage', () => {
  /** Answers entries with these keys without counting them: writing a thousand takes seconds. @returns the keys that were asked */
  async function stubLedger(call: MeteredCall, isStubbed: (key: string) => boolean): Promise<string[]> {
    const { ledger } = app.service.stores;
    const asked: string[] = [];
    const recordCall = ledger.recordCall.bind(ledger);
    const spy = vi.spyOn(ledger, 'recordCall');
    await hear(call, response('before'));
    const answer = await (spy.mock.results[0]?.value as ReturnType<typeof recordCall>);
    spy.mockImplementation((usage) => {
      if (!isStubbed(usage.key)) return recordCall(usage);
      asked.push(usage.key);
      return Promise.resolve({ ...answer, kind: 'replayed' });
    });
    return asked;
  }
  const isFiller = (key: string): boolean => /^r\d+$/.test(key);
  const fillers = Array.from({ length: 1000 }, (_, index) => response(`r${index}`));

  test('waits, and is counted in order when it is back', async () => {
    const [call, other] = [await openCall(), await openCall()];
    database().isAway = true;
    await hear(call, response('r1', 10));
    expect(app.service.metering.waitingSinceMs).toBe(app.clock.now());
    app.clock.advance(SECOND);
    await hear(call, response('r2', 10));
    await hear(other, response('r1', 1));
    expect([app.service.metering.waiting, app.service.metering.waitingSinceMs]).toEqual([3, NOON]);
    expect(await metric('switchboard_metered_usage_waiting')).toBe(3);
    await expect(app.service.metering.flush()).rejects.toThrow(Unavailable);
    database().isAway = false;
    await app.service.metering.flush();
    expect([app.service.metering.waiting, app.service.metering.waitingSinceMs]).toEqual([0, undefined]);
    expect([await totals(call), await totals(other)]).toEqual([
      { tokens: 20, microDollars: 480 },
      { tokens: 1, microDollars: 24 },
    ]);
    await hear(call, response('r3', 1));
    expect(await totals(call)).toMatchObject({ tokens: 21 });
  });

  test('takes no more memory than 1,000 entries; the rest is told to be lost, and is a gap', async () => {
    const call = await openCall();
    const asked = await stubLedger(call, isFiller);
    database().isAway = true;
    await hear(call, response('first'));
    await hear(call, ...fillers);
    app.clock.advance(2 * SECOND);
    await hear(call, response('last'));
    expect(app.service.metering.waiting).toBe(1000);
    expect(await metric('switchboard_usage_lost_total')).toBe(2);
    expect(app.logged()).toContain('usage.lost');
    database().isAway = false;
    await app.service.metering.flush();
    expect(asked).toEqual(fillers.slice(0, 999).map(({ key }) => key));
    expect(await totals(call)).toMatchObject({ tokens: 2 });
    expect(await meterOf(call)).toMatchObject({ gapMs: 3 * SECOND, tokens: { textOut: 2 } });
  });

  test('that finds no room waits all the same where it is a gap, because nothing else tells of that time', async () => {
    const call = await openCall();
    const asked = await stubLedger(call, isFiller);
    database().isAway = true;
    await hear(call, ...fillers);
    const at = app.clock.now();
    app.service.metering.gap(call, at, at + 30 * SECOND);
    database().isAway = false;
    await app.service.metering.flush();
    expect(asked).toHaveLength(1000);
    expect(await meterOf(call)).toMatchObject({ gapMs: 30 * SECOND, tokens: { textOut: 1 } });
  });

  test('that the database never takes holds up no other, and is a gap', async () => {
    const call = await openCall();
    await hear(call, response('bad\0key'), response('r1', 2));
    expect(await totals(call)).toMatchObject({ tokens: 2 });
    expect(await meterOf(call)).toMatchObject({ gapMs: SECOND });
    expect(app.faults).toHaveLength(1);
  });
});
