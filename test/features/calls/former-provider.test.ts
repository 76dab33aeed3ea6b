import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../config/config.ts';
import { requireDrained } from '../../../src/app/foundations.ts';
import { createPostgresStores } from '../../../src/stores/postgres.ts';
import { closeFormerCalls } from '../../../src/calls/handover.ts';
import { call } from '../../contracts/voice-calls.ts';
import { TestDatabase } from '../../support/test-database.ts';

const ENDS = Date.UTC(2026, 6, 1, 12);

test('A start with another provider is refused while calls of the former one may be open, with which these are and what to do', async () => {
  const { calls } = createPostgresStores(await TestDatabase.open());
  const open = { provider: 'azure', state: 'open', providerCallId: 'rtc_1', providerEndsAtMs: ENDS } as const;
  const [first, second] = [call(open), call(open)];
  for (const one of [first, second, call({ ...open, provider: 'local' })]) await calls.insert(one, 10);
  const start = (env: Record<string, string>, atMs = ENDS - 1) =>
    requireDrained(readConfig(env), { name: 'openai' }, calls, atMs);

  const refusal: unknown = await start({}).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ConfigError);
  const { message } = refusal as ConfigError;
  expect(message).toContain('must not change to openai while 2 calls of azure may be open');
  expect(message).toContain(first.id);
  expect(message).toContain(second.id);
  expect(message).toContain('start with azure and let them end');
  expect(message).toContain('2026-07-01T12:00:00.000Z');
  expect(message).toContain('FORMER_PROVIDER_DRAIN=ignore');

  await start({ FORMER_PROVIDER_DRAIN: 'ignore' });
  await start({}, ENDS);
  await requireDrained(readConfig({}), { name: 'azure' }, calls, ENDS - 1);
});

test('If calls are no longer brokered, those of a former provider are closed as unconfirmed once it must have ended them', async () => {
  const { calls, liveNodes } = createPostgresStores(await TestDatabase.open());
  const open = { provider: 'azure', state: 'open', providerCallId: 'rtc_1', giveUpAtMs: null } as const;
  const [over, later, others] = [
    call({ ...open, providerEndsAtMs: ENDS, unheardSinceMs: ENDS - 5000, openedAtMs: ENDS - 3_600_000 }),
    call({ ...open, providerEndsAtMs: ENDS + 3_600_000 }),
    call({ ...open, providerEndsAtMs: ENDS }),
  ];
  for (const one of [over, later, others]) await calls.insert(one, 10);
  await liveNodes.renew(others.ownerNode, ENDS + 3_600_000, ENDS);
  const close = (atMs: number) => closeFormerCalls(calls, { graceSec: 30, unheardSec: 20 }, atMs);

  await close(ENDS - 1);
  expect(await calls.load(over.id)).toEqual(over);
  await close(ENDS);
  await close(ENDS + 600_000);
  await close(ENDS + 1_200_000);
  expect(await calls.load(over.id)).toMatchObject({ state: 'closed', hangup: 'unconfirmed', closeReason: 'expired' });
  expect(await calls.orphans(ENDS + 1_200_000, [], 10)).toMatchObject([{ id: later.id }]);
  expect(await calls.load(later.id)).toEqual(later);
  // Left to the process that still runs with the former provider.
  expect(await calls.load(others.id)).toEqual(others);
});
