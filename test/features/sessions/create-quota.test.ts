import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { app, useApp } from '../../support/use-apps.ts';

useApp();

/** Limits that no test reaches by chance. */
const roomy = { concurrentSessions: 100, sessionsPerMinute: 100 };

describe('A daily quota that is used up while the secret is minted', () => {
  /** Creates a session whose subject reports `tokens` of its 1000 before the provider answers. @returns the answer, and the slots taken then */
  async function createDuringReport(tokens: number) {
    const key = await app.key({ limits: { ...roomy, dailyTokens: 1000 } });
    const other = await app.open(key);
    const release = app.provider.hold();
    const slow = app.create(key);
    while (app.provider.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await app.post('/api/auth/usage', { sm_session_id: other, tokens, dollars: 0 });
    release();
    const reply = await slow;
    const subject = app.service.subjects.widgetKey('acme', key.id);
    return { code: reply.body['code'], slots: await app.live.slots.count(subject, app.clock.now()), subject };
  }

  async function endReasons(subject: string) {
    const page = await app.service.stores.history.list({}, undefined, 100);
    return page?.rows.filter(({ record }) => record.subject === subject).map(({ record }) => record.endReason);
  }

  test('ends the session that is no sooner open, and frees its slot', async () => {
    const { code, slots, subject } = await createDuringReport(1001);
    expect([code, slots]).toEqual(['DAILY_QUOTA_EXCEEDED', 0]);
    expect(await endReasons(subject)).toEqual(['quota_exceeded', 'quota_exceeded']);
  });

  test('also when its ceiling is only reached, which ends no other session', async () => {
    const { code, slots, subject } = await createDuringReport(1000);
    expect([code, slots]).toEqual(['DAILY_QUOTA_EXCEEDED', 1]);
    expect(new Set(await endReasons(subject))).toEqual(new Set([null, 'quota_exceeded']));
  });

  test('leaves the session open as long as the ceiling is not reached', async () => {
    expect(await createDuringReport(999)).toMatchObject({ code: undefined, slots: 2 });
  });

  test('leaves nothing open when the ledger cannot be asked any more', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 2, concurrentSessions: 1 } });
    const { ledger } = app.service.stores;
    const totals = ledger.totals.bind(ledger);
    let asked = 0;
    ledger.totals = (subject, day) => {
      asked += 1;
      return asked === 1 ? totals(subject, day) : Promise.reject(new Unavailable('database'));
    };
    expect((await app.create(key)).body['code']).toBe('SERVICE_UNAVAILABLE');
    ledger.totals = totals;
    expect((await app.create(key)).status).toBe(200);
    expect(await app.live.registry.ofKey('acme', key.id)).toHaveLength(1);
  });
});

describe('A daily quota that is used up while the history gets the session', () => {
  test('ends it also where whoever counts that is cut off from the registry, and finds it in neither store', async () => {
    const key = await app.key({ limits: { ...roomy, dailyTokens: 1000 } });
    const other = await app.open(key);
    const { history } = app.service.stores;
    const { registry } = app.live;
    const [insert, ofSubject] = [history.insert.bind(history), registry.ofSubject.bind(registry)];
    history.insert = async (opened) => {
      registry.ofSubject = () => Promise.reject(new Unavailable('registry'));
      await app.post('/api/auth/usage', { sm_session_id: other, tokens: 1001, dollars: 0 });
      registry.ofSubject = ofSubject;
      return insert(opened);
    };
    expect((await app.create(key)).body['code']).toBe('DAILY_QUOTA_EXCEEDED');
    expect(await app.live.slots.count(app.service.subjects.widgetKey('acme', key.id), app.clock.now())).toBe(0);
  });
});
