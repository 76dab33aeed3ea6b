import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newEndpoint } from '../../../machines/webhook-endpoint/selectors.ts';
import { randomId } from '../../../src/kernel/ids.ts';
import { OutboundFailure, type OutboundRequest } from '../../../src/outbound/contract.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import type { WebhookDelivery } from '../../../src/stores/webhooks/contract.ts';
import { Deliveries } from '../../../src/webhooks/deliveries.ts';
import { addWebhook, disableWebhook, enableWebhook, rotateWebhook } from '../../../src/webhooks/endpoints.ts';
import { LONGEST_MS } from '../../../src/webhooks/retry.ts';
import { STAFF } from '../../support/app.ts';
import { DAY, HOUR, ManualClock, MINUTE, SECOND } from '../../support/clock.ts';
import { holdDeadlines } from '../../support/deadlines.ts';
import { examples } from '../../support/examples.ts';
import { soon } from '../../support/soon.ts';
import { ToolServer } from '../../support/tool-server.ts';
import { app, useApp } from '../../support/use-apps.ts';

const env = { ...STAFF, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' };
const by = { actor: 'ops@example.com', role: 'operator' } as const;

let receiver: ToolServer;
const { build, database } = useApp({ env });

beforeEach(async () => {
  receiver = await ToolServer.start();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const { id } of await app.service.stores.webhooks.list()) await app.service.stores.webhooks.delete(id);
  await receiver.close();
});

const endpoints = () => app.service.webhooks.endpoints;

/** Adds an endpoint of `acme` that points to the receiver. */
async function subscribe(types = ['session.started', 'session.ended'], server = receiver) {
  const made = await addWebhook({ tenantId: 'acme', url: `http://localhost:${server.port}/`, types }, by, endpoints());
  if (made instanceof Refusal) throw new Error(made.error);
  return made;
}

/** Sends everything that is due, and everything that becomes due as a result. */
async function send(on = app): Promise<void> {
  await on.service.webhooks.deliveries.tick();
  await on.service.webhooks.deliveries.settled();
}

interface Answered {
  readonly status: number;
}

/** Deliveries like those of the service, whose requests `answer` answers. */
function deliveriesBy(answer: (request: OutboundRequest) => Answered | Promise<Answered>): Deliveries {
  const { webhooks, host } = endpoints();
  return new Deliveries({
    webhooks,
    host,
    outbound: {
      request: async (request) => ({ ...(await answer(request)), contentType: undefined, body: Buffer.alloc(0) }),
    },
    secretsOf: () => Promise.resolve(['whsec_AAAA']),
    clock: app.clock,
    random: () => 0.5,
    events: { webhookSent: () => undefined, webhookTurned: () => undefined },
    onError: (fault) => expect.unreachable(String(fault)),
  });
}

/** Opens a session of `acme`. */
const open = async (): Promise<string> => app.open(await app.key());

const bodies = (server = receiver) =>
  server.requests.map(({ body }) => JSON.parse(body) as { type: string; data: { ref: string } });

async function deliveriesTo(id: string): Promise<readonly WebhookDelivery[]> {
  return (await app.service.stores.webhooks.deliveries({ endpointId: id }, undefined, 200)).rows;
}

const stateOf = async (id: string) => app.service.stores.webhooks.find(id);

describe('A delivery', () => {
  test('tells of a session that began and ended, each once, signed as Standard Webhooks says', async () => {
    const { secret } = await subscribe();
    const id = await open();
    await app.sessions.endForGood(id, 'closed_by_operator', app.clock.now(), undefined);
    await send();
    await send();
    expect(
      bodies()
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['session.ended', 'session.started']);
    expect(new Set(bodies().map(({ data }) => data.ref))).toEqual(new Set([id.slice(0, 42)]));
    const documented = JSON.parse(
      /```json\n(\{\n.*?)```/s.exec(readFileSync('docs/webhooks.md', 'utf8'))?.[1] ?? '',
    ) as {
      readonly data: object;
    };
    const started = bodies().find(({ type }) => type === 'session.started');
    expect(started?.data).toMatchObject({ limits: { maxMinutes: 15, maxIdleSec: 300 } });
    expect(Object.keys(started?.data ?? {})).toEqual(Object.keys(documented.data));
    // The receiver's library reads the machine's clock.
    vi.useFakeTimers({ toFake: ['Date'], now: app.clock.now() });
    for (const { headers, body } of receiver.requests) {
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(/^evt_[\w-]{22}$/),
      });
      const signed = headers as Record<string, string>;
      expect(new Webhook(secret).verify(body, signed)).toEqual(JSON.parse(body));
      expect(() => new Webhook(secret).verify(`${body} `, signed)).toThrow('No matching signature found');
      expect(body).not.toContain(id);
      expect(Buffer.byteLength(body)).toBeLessThan(8192);
    }
  });

  test('asks the database no more often as a session begins and ends, whether there are endpoints or not', async () => {
    const key = await app.key();
    const questions = async (): Promise<number> => {
      const before = database().asked;
      const id = await app.open(key);
      await app.sessions.endForGood(id, 'closed_by_operator', app.clock.now(), undefined);
      return database().asked - before;
    };
    await questions();
    const without = await questions();
    await subscribe(['session.started', 'session.ended', 'session.settled']);
    expect(await questions()).toBe(without);
  });

  test('is signed by the former secret as well, for a day after a new one was made', async () => {
    const { endpoint, secret } = await subscribe();
    app.clock.advance(MINUTE);
    const fresh = await rotateWebhook(endpoint, by, endpoints());
    expect(fresh).toMatch(/^whsec_/);
    expect(fresh).not.toBe(secret);
    const signatures = async (): Promise<number> => {
      await open();
      await send();
      return String(receiver.requests.at(-1)?.headers['webhook-signature']).split(' ').length;
    };
    expect(await signatures()).toBe(2);
    app.clock.advance(DAY);
    expect(await signatures()).toBe(1);
  });

  test('is sent again after a failure, later and later, until all tries are used', async () => {
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = { status: 500, body: '' };
    await open();
    const waits: number[] = [];
    for (;;) {
      // Resets the endpoint's state: otherwise the probing of a failing endpoint would decide when to try again.
      await app.service.stores.webhooks.save({ ...endpoint, version: 99 }, (await stateOf(endpoint.id))?.version ?? 0);
      await send();
      const [one] = await deliveriesTo(endpoint.id);
      if (one === undefined || one.nextAtMs === null) break;
      waits.push(one.nextAtMs - app.clock.now());
      app.clock.set(one.nextAtMs);
    }
    const expected = [5 * SECOND, 30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, DAY];
    expect(waits).toHaveLength(expected.length);
    for (const [n, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual((expected[n] as number) * 0.8);
      expect(wait).toBeLessThanOrEqual((expected[n] as number) * 1.2);
    }
    expect(receiver.requests).toHaveLength(10);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await deliveriesTo(endpoint.id)).toMatchObject([{ state: 'dead', attempts: 10, lastStatus: 500 }]);
  });

  test.each([
    ['too many', 429],
    ['out of order', 503],
  ])('waits as long as a server asks for that is %s, and an hour at most', async (_, status) => {
    const { endpoint } = await subscribe(['session.started']);
    for (const [asked, waited] of [
      ['120', 120],
      ['86400', 3600],
    ] as const) {
      receiver.mode = { status, body: '', headers: { 'retry-after': asked } };
      await open();
      await send();
      const [newest] = await deliveriesTo(endpoint.id);
      expect(newest).toMatchObject({ state: 'waiting', lastStatus: status });
      expect((newest?.nextAtMs ?? 0) - app.clock.now()).toBe(waited * SECOND);
      app.clock.advance(SECOND);
    }
  });

  test('follows no redirect, and takes it for a failure', async () => {
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = 'redirect';
    receiver.location = `http://localhost:${receiver.port}/elsewhere`;
    await open();
    await send();
    expect(receiver.requests).toHaveLength(1);
    expect(await deliveriesTo(endpoint.id)).toMatchObject([{ state: 'waiting', lastStatus: 307 }]);
  });

  test('is done with a server that answers without end, whose words nobody reads', async () => {
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = 'endless';
    await open();
    await send();
    expect(await deliveriesTo(endpoint.id)).toMatchObject([{ state: 'delivered', lastStatus: 200 }]);
  });

  test('fails where the connection breaks', async () => {
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = 'reset';
    await open();
    await send();
    expect(await deliveriesTo(endpoint.id)).toMatchObject([
      { state: 'waiting', lastStatus: null, lastCode: 'unreachable', attempts: 1 },
    ]);
  });

  test('is told nobody while the database is away, and everybody once it is back', async () => {
    await subscribe(['session.ended']);
    const id = await open();
    database().isAway = true;
    await app.sessions.end(id, 'closed_by_operator', app.clock.now(), undefined);
    await expect(app.service.webhooks.deliveries.tick()).rejects.toThrow('database');
    expect(receiver.requests).toEqual([]);
    database().isAway = false;
    await app.flush();
    await send();
    await send();
    expect(bodies()).toMatchObject([{ type: 'session.ended', data: { ref: id.slice(0, 42) } }]);
  });

  test('is sent again once the lease of a node that died with it is over', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await open();
    const at = app.clock.now();
    await app.service.stores.webhooks.claimOne(endpoint.id, at, at + 30 * SECOND);
    await send();
    expect(receiver.requests).toEqual([]);
    app.clock.advance(30 * SECOND);
    await send();
    expect(bodies()).toHaveLength(1);
  });

  test('is sent by one of two nodes', async () => {
    const other = await build({ env });
    await subscribe(['session.started']);
    for (let n = 0; n < 12; n += 1) await open();
    await Promise.all([send(app), send(other)]);
    await Promise.all([send(app), send(other)]);
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
  });

  test('that a server missed while it was away reaches it at one pace, however many nodes send, and what happens then at once', async () => {
    const { endpoint } = await subscribe(['session.started']);
    const other = await build({ env, clock: app.clock });
    const refs: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      refs.push((await open()).slice(0, 42));
      app.clock.advance(SECOND);
    }
    app.clock.advance(HOUR);
    const healthySinceMs = app.clock.now();
    await app.service.stores.webhooks.save({ ...endpoint, healthySinceMs, version: 2 }, 1);
    const fresh = (await open()).slice(0, 42);
    const sendByAll = async (): Promise<number> => {
      await Promise.all([send(app), send(other)]);
      await Promise.all([send(app), send(other)]);
      return receiver.requests.length;
    };
    expect(await sendByAll()).toBe(3);
    expect(
      bodies()
        .map(({ data }) => data.ref)
        .toSorted(),
    ).toEqual([...refs.slice(0, 2), fresh].toSorted());
    // Two at once, and then one every 120 ms.
    for (const [ms, sent] of [
      [119, 3],
      [1, 4],
      [250, 6],
    ] as const) {
      app.clock.advance(ms);
      expect(await sendByAll()).toBe(sent);
    }
  });

  test('is not left to its lease where a node looks twice at once', async () => {
    await subscribe(['session.started']);
    for (let n = 0; n < 12; n += 1) await open();
    const { deliveries } = app.service.webhooks;
    await Promise.all([deliveries.tick(), deliveries.tick()]);
    await deliveries.settled();
    expect(receiver.requests).toHaveLength(12);
  });

  test('that waited because the database was away is not paced', async () => {
    await subscribe(['session.started']);
    for (let n = 0; n < 6; n += 1) await open();
    app.clock.advance(HOUR);
    await send();
    expect(receiver.requests).toHaveLength(6);
  });
});

describe('An endpoint', () => {
  /** Makes this many deliveries fail, one after the other. */
  async function fail(times: number): Promise<void> {
    receiver.mode = { status: 500, body: '' };
    for (let n = 0; n < times; n += 1) {
      await open();
      await send();
    }
  }

  test('that failed five times in a row is sent one delivery at a time, whatever waits', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await fail(5);
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'failing' });
    for (let n = 0; n < 3; n += 1) await open();
    const before = receiver.requests.length;
    await send();
    expect(receiver.requests).toHaveLength(before);
    app.clock.advance(10 * SECOND);
    const other = await build({ env });
    await Promise.all([send(app), send(other)]);
    expect(receiver.requests).toHaveLength(before + 1);
    app.clock.advance(10 * SECOND);
    await send();
    expect(receiver.requests).toHaveLength(before + 1);
  });

  test('that answers again gets all that waited', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await fail(5);
    receiver.mode = { body: '' };
    await open();
    app.clock.advance(10 * SECOND);
    await send();
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'healthy', failures: 0 });
    app.clock.advance(30 * SECOND);
    for (let n = 0; n < 6; n += 1) {
      app.clock.advance(SECOND);
      await send();
    }
    expect((await deliveriesTo(endpoint.id)).map(({ state }) => state)).toEqual(Array(6).fill('delivered'));
  });

  test('that fails does not hold up another', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await fail(5);
    const other = await ToolServer.start();
    try {
      await subscribe(['session.started'], other);
      await open();
      await send();
      expect(bodies(other)).toHaveLength(1);
      expect(await stateOf(endpoint.id)).toMatchObject({ state: 'failing' });
    } finally {
      await other.close();
    }
  });

  test('whose server answers 410 gets nothing more, and what it was to be told waits', async () => {
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = { status: 410, body: '' };
    await open();
    await send();
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'disabled', disabledFor: 'gone' });
    receiver.mode = { body: '' };
    await open();
    app.clock.advance(MINUTE);
    await send();
    expect(receiver.requests).toHaveLength(1);
    const present = await stateOf(endpoint.id);
    if (present === undefined) throw new Error('it is gone');
    await enableWebhook(present, by, endpoints());
    for (let n = 0; n < 4; n += 1) {
      app.clock.advance(2 * SECOND);
      await send();
    }
    expect((await deliveriesTo(endpoint.id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  test('that is switched off gets nothing, and later what happened meanwhile', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await disableWebhook(endpoint, by, endpoints());
    await open();
    await send();
    expect(receiver.requests).toEqual([]);
    await enableWebhook(endpoint, by, endpoints());
    app.clock.advance(2 * SECOND);
    await send();
    expect(bodies()).toHaveLength(1);
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'healthy' });
  });

  test('that nobody could reach for days is given up', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await fail(5);
    app.clock.advance(5 * DAY);
    await send();
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'disabled', disabledFor: 'failing' });
  });

  test('is not reached at an address that its name leads to only later', async () => {
    const { endpoint } = await subscribe(['session.started']);
    const strict = await build({ env: STAFF });
    await open();
    await send(strict);
    expect(receiver.requests).toEqual([]);
    expect(await deliveriesTo(endpoint.id)).toMatchObject([{ state: 'waiting', lastCode: 'forbidden' }]);
  });
});

describe('A server that does not answer', () => {
  test('is given up on after 15 seconds, and what it was not asked yet is given back', async () => {
    const runOut = holdDeadlines(15 * SECOND);
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = 'hang';
    for (let n = 0; n < 3; n += 1) await open();
    await app.service.webhooks.deliveries.tick();
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(2), soon);
    app.clock.advance(15 * SECOND);
    runOut();
    await app.service.webhooks.deliveries.settled();
    const deliveries = await deliveriesTo(endpoint.id);
    const hung = { state: 'waiting', attempts: 1, lastStatus: null, lastCode: 'timed_out', ms: 15 * SECOND };
    expect(deliveries.filter(({ attempts }) => attempts > 0)).toMatchObject([hung, hung]);
    expect(deliveries.filter(({ attempts }) => attempts === 0)).toMatchObject([{ nextAtMs: app.clock.now() }]);
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'healthy', failures: 2 });
    expect(receiver.requests).toHaveLength(2);
  });

  test('holds up no other meanwhile', async () => {
    const runOut = holdDeadlines(15 * SECOND);
    await subscribe(['session.started']);
    receiver.mode = 'hang';
    const other = await ToolServer.start();
    try {
      await subscribe(['session.started'], other);
      for (let n = 0; n < 3; n += 1) {
        await open();
        await app.service.webhooks.deliveries.tick();
        await vi.waitFor(() => expect(other.requests).toHaveLength(n + 1), soon);
      }
      expect(receiver.requests.length).toBeLessThanOrEqual(2);
      runOut();
      await app.service.webhooks.deliveries.settled();
    } finally {
      await other.close();
    }
  });

  test('and many that are slow leave room for others', async () => {
    const types = ['session.started'];
    const add = (url: string) =>
      app.service.stores.webhooks.insert(
        { ...newEndpoint(`wh_${randomId()}`), tenantId: 'acme', url, types, createdAtMs: 0, createdBy: 'file' },
        100,
      );
    for (let n = 0; n < 18; n += 1) await add('https://slow.example/');
    const held: (() => void)[] = [];
    let isHeld = false;
    const asked = { slow: 0, fast: 0 };
    const deliveries = deliveriesBy(async ({ url }) => {
      const isSlow = url.hostname === 'slow.example';
      asked[isSlow ? 'slow' : 'fast'] += 1;
      if (isSlow && isHeld) await new Promise<void>((resolve) => held.push(resolve));
      else if (isSlow) app.clock.advance(3 * SECOND);
      return { status: 200 };
    });
    await open();
    await deliveries.tick();
    await deliveries.settled();
    expect(asked).toEqual({ slow: 18, fast: 0 });
    await add('https://fast.example/');
    isHeld = true;
    await open();
    await deliveries.tick();
    await vi.waitFor(() => expect(asked).toEqual({ slow: 18 + 16, fast: 1 }), soon);
    await deliveries.tick();
    expect(asked.slow).toBe(18 + 16);
    isHeld = false;
    for (const answer of held) answer();
    await deliveries.settled();
    // The two that had to wait come first now.
    await deliveries.tick();
    await deliveries.settled();
    expect(asked.slow).toBe(18 + 18);
  });

  test('may take all of its time, and nothing is sent that others may claim before it is answered', async () => {
    const { endpoint } = await subscribe(['session.started']);
    for (let n = 0; n < 6; n += 1) await open();
    let sent = 0;
    const slow = deliveriesBy(() => {
      sent += 1;
      app.clock.advance(8 * SECOND);
      return { status: 200 };
    });
    await slow.tick();
    await slow.settled();
    // Two are sent at once; then 16 of the 30 seconds of the claims are over.
    expect(sent).toBe(2);
    const left = (await deliveriesTo(endpoint.id)).filter(({ state }) => state === 'waiting');
    expect(left.map(({ nextAtMs, attempts }) => [nextAtMs, attempts])).toEqual(
      Array.from({ length: 4 }, () => [app.clock.now(), 0]),
    );
  });
});

describe('A clock that is set', () => {
  /** Starts a node whose clock is off by `ms`, and sends everything that is due within a second. */
  async function sendAfter(ms: number): Promise<void> {
    const clock = new ManualClock(app.clock.now() + ms);
    const next = await build({ env, clock });
    await send(next);
    clock.advance(SECOND);
    await send(next);
  }

  test.each<[what: string, begin: (id: string) => Promise<unknown>]>([
    ['waits for its first try', async () => open()],
    [
      'was claimed by a node that died',
      async (id) => {
        await open();
        await app.service.stores.webhooks.claimOne(id, app.clock.now(), app.clock.now() + 30 * SECOND);
      },
    ],
    [
      'failed once',
      async () => {
        receiver.mode = { status: 500, body: '' };
        await open();
        await send();
      },
    ],
    [
      'was refused for an hour',
      async () => {
        receiver.mode = { status: 503, body: '', headers: { 'retry-after': '3600' } };
        await open();
        await send();
      },
    ],
  ])('back by an hour does not hold up what %s', async (_, begin) => {
    const { endpoint } = await subscribe(['session.started']);
    await begin(endpoint.id);
    receiver.mode = { body: '' };
    await sendAfter(-HOUR - SECOND);
    expect(await deliveriesTo(endpoint.id)).toMatchObject([{ state: 'delivered' }]);
  });

  test('back shortens no wait that a delivery may have', async () => {
    const { endpoint } = await subscribe(['session.started']);
    receiver.mode = { status: 500, body: '' };
    await open();
    for (let tries = 1; tries <= 5; tries += 1) {
      await send();
      const [one] = await deliveriesTo(endpoint.id);
      if (tries < 5) app.clock.set(one?.nextAtMs ?? 0);
      await app.service.stores.webhooks.save({ ...endpoint, version: 99 }, (await stateOf(endpoint.id))?.version ?? 0);
    }
    const before = receiver.requests.length;
    const [one] = await deliveriesTo(endpoint.id);
    app.clock.set((one?.nextAtMs ?? 0) - (LONGEST_MS[5] ?? 0));
    await send();
    expect(receiver.requests).toHaveLength(before);
  });

  test('back by an hour has a failing endpoint probed, which is healthy then and is told all that happens at once', async () => {
    const { endpoint } = await subscribe(['session.started']);
    const version = 2;
    const at = app.clock.now();
    const failing = {
      ...endpoint,
      state: 'failing',
      failingSinceMs: at,
      probeAtMs: at + 10 * SECOND,
      version,
    } as const;
    await app.service.stores.webhooks.save(failing, 1);
    for (let n = 0; n < 6; n += 1) await open();
    await sendAfter(-HOUR);
    expect(await stateOf(endpoint.id)).toMatchObject({ state: 'healthy' });
    expect((await deliveriesTo(endpoint.id)).filter(({ state }) => state === 'waiting')).toEqual([]);
  });

  test('back by an hour does not take a server that came back before for one that was away', async () => {
    const { endpoint } = await subscribe(['session.started']);
    await app.service.stores.webhooks.save({ ...endpoint, healthySinceMs: app.clock.now(), version: 2 }, 1);
    app.clock.advance(-HOUR);
    for (let n = 0; n < 6; n += 1) await open();
    await send();
    expect(receiver.requests).toHaveLength(6);
  });

  test('ahead by an hour while a request is under way sends the event again under its id, and it is delivered', async () => {
    const { endpoint } = await subscribe(['session.started']);
    const runOut = holdDeadlines(15 * SECOND);
    receiver.mode = 'hang';
    await open();
    await app.service.webhooks.deliveries.tick();
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), soon);
    receiver.mode = { body: '' };
    await sendAfter(HOUR);
    runOut();
    app.clock.advance(HOUR);
    await app.service.webhooks.deliveries.settled();
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await deliveriesTo(endpoint.id)).toMatchObject([{ state: 'delivered' }]);
  });

  test('in any way, while servers fail or take their time, loses nothing and tells nothing under two ids', async () => {
    const jump = fc.constantFrom(0, 0, 0, HOUR, -HOUR);
    const step = fc.record({ status: fc.constantFrom(200, 500, 503, undefined), tookMs: fc.nat(15 * SECOND), jump });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { endpoint } = await subscribe(['session.started']);
        const ids = new Map<string, string>();
        const left = [...steps];
        const deliveries = deliveriesBy(({ headers, body = '' }) => {
          const { tookMs, jump: byMs, status } = left.shift() ?? { tookMs: 10, jump: 0, status: 200 };
          app.clock.advance(tookMs + byMs);
          const { ref } = (JSON.parse(body) as { data: { ref: string } }).data;
          expect(headers['webhook-id']).toBe(ids.get(ref) ?? headers['webhook-id']);
          ids.set(ref, headers['webhook-id'] ?? '');
          if (status === undefined) throw new OutboundFailure('timed_out');
          return { status };
        });
        const refs: string[] = [];
        for (let n = 0; n < 4; n += 1) refs.push((await open()).slice(0, 42));
        const look = async (): Promise<boolean> => {
          await deliveries.tick();
          await deliveries.settled();
          return (await deliveriesTo(endpoint.id)).every(({ state }) => state === 'delivered');
        };
        // Passes the longest wait that can be left once the server answers: the delay after as many failed tries as there can be.
        for (let round = 0; round < 60 && !(await look()); round += 1) app.clock.advance(15 * MINUTE);
        expect(await deliveriesTo(endpoint.id)).toMatchObject(refs.map(() => ({ state: 'delivered' })));
        expect([...ids.keys()].toSorted()).toEqual(refs.toSorted());
        await app.service.stores.webhooks.delete(endpoint.id);
      }),
      examples(10),
    );
  });
});

describe('A node that stops', () => {
  test('sends nothing more, and gives back what it has claimed', async () => {
    await subscribe(['session.started']);
    await open();
    const { deliveries } = app.service.webhooks;
    await deliveries.stop();
    await deliveries.tick();
    expect(receiver.requests).toEqual([]);
    await send(await build({ env }));
    expect(bodies()).toHaveLength(1);
  });
});
