import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { runToEnd } from '../support/switchboard.ts';
import { UsageApi } from '../support/usage-api.ts';
import { World } from '../support/world.ts';

const skipped = reasonToSkipPostgres();

let api: UsageApi;
let world: World;

beforeAll(async () => {
  api = await UsageApi.start();
  const settings = { OPENAI_ADMIN_KEY: api.adminKey, OPENAI_ADMIN_BASE_URL: api.baseUrl, OPENAI_PROJECT: api.project };
  world = await World.start(settings);
});
afterAll(() => Promise.all([world.close(), api.close()]));

describe.skipIf(skipped !== undefined)(`reconcile, beside a running server ${skipped ?? ''}`, () => {
  test('reads a day, and the running server’s API and metrics show the result', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const today = new Date().toISOString().slice(0, 10);
    api.days.set(yesterday, { models: { 'gpt-realtime': { audioIn: 1_000_000 } }, dollars: 32 });
    const { code, stdout, stderr } = await runToEnd(
      ['reconcile', '--from', yesterday, '--to', today],
      world.environment,
    );
    expect([code, JSON.parse(stderr)]).toEqual([
      3,
      expect.objectContaining({ event: 'meter.drift', level: 'warn', day: yesterday, unexplainedDollars: 32 }),
    ]);
    expect(stdout).toContain(`${yesterday}  unexplained  ours $0.00, OpenAI's $32.00`);
    expect(stdout).not.toContain(api.adminKey);
    const { body } = await world.backend().get('/api/operator/reconciliation');
    expect(body).toMatchObject({ enabled: true, isOfProject: true });
    expect(body).toMatchObject({ days: [{ day: yesterday, state: 'unexplained', causes: { gapCalls: 0, gaps: [] } }] });
    const { text } = await world.backend().get('/metrics');
    expect(text).toContain('\nswitchboard_meter_unexplained_dollars 32\n');
    expect(text).toContain('\nswitchboard_meter_drift_ratio{upstream="openai",model="gpt-realtime"} -1\n');
  });
});
