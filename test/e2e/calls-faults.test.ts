import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { reasonToSkipPostgres, startPostgres } from '../support/services/postgres.ts';
import { soon } from '../support/soon.ts';
import { promptly } from '../support/switchboard.ts';
import { Page, seen, startCalls } from './calls-world.ts';
import type { World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await startCalls({ UPSTREAM_TIMEOUT_MS: '2000', SIDEBAND_READY_MS: '1000', SIDEBAND_LOST_SEC: '5' });
});

beforeEach(() => {
  const { provider } = world;
  provider.mode = 'ok';
  provider.delayMs = 0;
  provider.calls.createMode = provider.calls.hangupMode = provider.calls.attachMode = 'ok';
});

afterEach(() => expect(world.leaks()).toEqual([]));

afterAll(() => world.close());

async function closed(page: Page): Promise<void> {
  await vi.waitFor(async () => {
    const { calls } = await seen(world, page);
    expect(calls.map(({ state }) => state)).toEqual(calls.map(() => 'closed'));
  }, soon);
}

/** Checks that no call is left open at the provider. */
async function nothingIsOpen(): Promise<void> {
  await vi.waitFor(() => expect(world.provider.calls.all.filter(({ ended }) => ended === undefined)).toEqual([]), soon);
}

describe('The end of a session', () => {
  test('is answered while the provider cannot be asked, and the call is hung up once it can', async () => {
    const page = Page.of(world);
    const call = await page.call(world);
    world.provider.calls.hangupMode = 'broken';
    expect((await page.end()).status).toBe(200);
    await vi.waitFor(async () => expect((await seen(world, page)).calls[0]?.state).toBe('closing'), soon);
    expect(await seen(world, page)).toMatchObject({ state: 'ended', endReason: 'closed_by_client' });
    expect(call.ended).toBeUndefined();
    world.provider.calls.hangupMode = 'ok';
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    await closed(page);
  });
});

describe('A caller who goes away before the answer', () => {
  test('leaves no call behind and may try again', async () => {
    const page = await Page.of(world).create();
    const { calls } = world.provider;
    calls.attachMode = 'never';
    const before = calls.upgrades;
    const going = new AbortController();
    const answer = page.exchange({ signal: going.signal }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(calls.upgrades).toBeGreaterThan(before), soon);
    going.abort();
    expect(await answer).toBeInstanceOf(Error);
    calls.attachMode = 'ok';
    await closed(page);
    await vi.waitFor(async () => expect((await page.askTicket()).ticket).toMatch(/^ek_sb_/), soon);
    await vi.waitFor(async () => expect((await (await page.askTicket()).exchange()).status).toBe(201), soon);
    await page.end();
    await closed(page);
  });
});

describe('A call that cannot be opened', () => {
  test('is refused, leaves nothing open, and costs only its ticket', async () => {
    for (const call of world.provider.calls.all) call.end('remote');
    await nothingIsOpen();
    const page = await Page.of(world).create();
    world.provider.calls.attachMode = 'never';
    const reply = await page.exchange();
    expect([reply.status, reply.text]).toEqual([504, expect.not.stringMatching(/rtc_|sk-|v=0/)]);
    world.provider.calls.attachMode = 'ok';
    await nothingIsOpen();
    const next = await (await page.askTicket()).dial(world);
    expect(next.ended).toBeUndefined();
    await page.end();
    await nothingIsOpen();
  });

  test('because its origin is wrong does not even cost its ticket', async () => {
    const page = await Page.of(world).create();
    expect(await page.exchange({ origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await page.exchange()).toMatchObject({ status: 201 });
    expect(await page.exchange()).toMatchObject({ status: 401 });
    await page.end();
  });
});

const missing = reasonToSkipPostgres();
/** A deadline short enough to be told of a frozen database, and long enough for a busy machine. */
const soonTold = { ...promptly, DATABASE_DEADLINE_MS: '5000' };

describe.skipIf(missing !== undefined)(`While the database is frozen ${missing ?? ''}`, () => {
  test('a call that is being opened is refused, and hung up at the provider afterwards', async () => {
    const postgres = await startPostgres();
    const frozen = await startCalls({ ...soonTold, DATABASE_URL: postgres.url, SIDEBAND_LOST_SEC: '0' });
    try {
      const page = await Page.of(frozen).create();
      const release = frozen.provider.hold();
      const asked = frozen.provider.requests.length;
      const answer = page.exchange();
      await vi.waitFor(() => expect(frozen.provider.requests.length).toBeGreaterThan(asked), soon);
      postgres.freeze();
      release();
      expect(await answer).toMatchObject({ status: 503 });
      postgres.thaw();
      await vi.waitFor(() => expect(frozen.provider.calls.all).toMatchObject([{ ended: { reason: 'hangup' } }]), soon);
      await vi.waitFor(async () => expect((await seen(frozen, page)).calls).toMatchObject([{ state: 'closed' }]), soon);
      await vi.waitFor(async () => expect((await (await page.askTicket()).exchange()).status).toBe(201), soon);
      expect(frozen.leaks()).toEqual([]);
    } finally {
      postgres.thaw();
      await frozen.close();
      await postgres.stop();
    }
  });

  test('a call whose usage can no longer be counted is hung up', async () => {
    const postgres = await startPostgres();
    const frozen = await startCalls({ ...soonTold, DATABASE_URL: postgres.url, SIDEBAND_LOST_SEC: '5' });
    try {
      const call = await Page.of(frozen).call(frozen);
      postgres.freeze();
      await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    } finally {
      postgres.thaw();
      await frozen.close();
      await postgres.stop();
    }
  });
});
