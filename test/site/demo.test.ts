import { beforeEach, describe, expect, test } from 'vitest';
import type { CallMode } from '../../src/protocol/call.ts';
import { CONSOLE, type TestApp } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { aKey } from '../features/tenants/fakes.ts';

const { build } = useApps();

describe('The demo page', () => {
  const itself = "connect-src 'self';";
  const provider = "connect-src 'self' https://provider.example;";

  function start(mode: CallMode, call: 'brokered' | 'token' = 'brokered'): Promise<TestApp> {
    const real = new FakeProvider({ call, isSimulated: false });
    return build({
      provider: Object.assign(real, { callOrigins: ['https://provider.example'] }),
      env: { CALL_MODE: mode },
    });
  }

  async function policyAt(app: TestApp, path: string): Promise<string> {
    const { headers } = await app.get(path);
    return /connect-src.*?;/.exec(headers['content-security-policy'] ?? '')?.[0] ?? '';
  }

  describe('talks to the provider only where its own calls do,', () => {
    let direct: TestApp;
    let brokered: TestApp;
    beforeEach(async () => {
      direct = await start('direct');
      brokered = await start('brokered');
      const agents = [
        { id: 'paged', call: 'direct' as const },
        { id: 'held', call: 'brokered' as const },
      ];
      const demo = aKey('shown', 'demo', { key: 'w_demo_local_00000000000000000000000000000000', origin: CONSOLE });
      const { tenants } = direct.service.stores;
      await tenants.merge([{ id: 'shown', name: 'Shown', agents, admins: null, keys: [demo] }]);
      for (const app of [direct, brokered]) await app.service.directory.reload();
    });

    test('by CALL_MODE where neither key nor agent says otherwise', async () => {
      const { key } = await direct.key();
      await brokered.service.directory.reload();
      expect(await policyAt(direct, `/demo?widgetKey=${key}`)).toBe(provider);
      expect(await policyAt(brokered, `/demo?widgetKey=${key}`)).toBe(itself);
    });

    test('by its own agent, and by another that its address names', async () => {
      const { key } = await direct.key({ tenantId: 'shown' });
      await brokered.service.directory.reload();
      for (const app of [direct, brokered]) {
        expect(await policyAt(app, '/demo')).toBe(provider);
        expect(await policyAt(app, `/demo?widgetKey=${key}&agentId=paged`)).toBe(provider);
        expect(await policyAt(app, `/demo/?widgetKey=${key}&agentId=held`)).toBe(itself);
      }
    });

    test('by the only agent that the key allows', async () => {
      const { key } = await direct.key({ tenantId: 'shown', agents: ['held'] });
      expect(await policyAt(direct, `/demo?widgetKey=${key}`)).toBe(itself);
    });

    test('by the key before the agent', async () => {
      const { key } = await direct.key({ tenantId: 'shown', call: 'brokered' });
      expect(await policyAt(direct, `/demo?widgetKey=${key}&agentId=paged`)).toBe(itself);
    });

    test('and to nobody for a key that is not known', async () => {
      expect(await policyAt(direct, '/demo?widgetKey=w_unknown')).toBe(itself);
    });
  });

  test('talks to a provider whose calls cannot be brokered, whatever the key asks for', async () => {
    const app = await start('direct', 'token');
    const { key } = await app.key({ call: 'brokered' });
    expect(await policyAt(app, `/demo?widgetKey=${key}`)).toBe(provider);
  });

  test('is told who answers, and who meters', async () => {
    const app = await build();
    const { body } = await app.get('/demo/config.json');
    expect(body['provider']).toEqual({ name: 'fake', simulated: true, call: 'none', meter: 'none' });
  });

  test('has nothing to take over where no demo is served, as in production', async () => {
    const app = await build();
    const { status, body } = await app.get('/demo/take-over.json');
    expect([status, body]).toMatchObject([200, { widgetKey: null, isLocked: false, dailyDollars: null }]);
    expect((await app.get('/demo/take-over')).status).toBe(200);
  });
});
