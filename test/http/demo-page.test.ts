import { describe, expect, test } from 'vitest';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

describe('The demo page', () => {
  test.each([
    ['direct', "connect-src 'self' https://provider.example;"],
    ['brokered', "connect-src 'self';"],
  ])('talks to the provider only where its own calls do: %s', async (mode, policy) => {
    const provider = Object.assign(new FakeProvider(), { callOrigins: ['https://provider.example'] });
    const app = await build({ provider, env: { CALL_MODE: mode } });
    const { headers } = await app.get('/demo');
    expect(headers['content-security-policy']).toContain(policy);
  });

  test('is told who answers, and who meters', async () => {
    const app = await build();
    const { body } = await app.get('/demo/config.json');
    expect(body['provider']).toEqual({ name: 'fake', simulated: true, call: 'none', meter: 'none' });
  });
});
