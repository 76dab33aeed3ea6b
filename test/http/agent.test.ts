import { beforeEach, describe, expect, test } from 'vitest';
import type { Agent, WidgetKey } from '../../src/stores/tenants/contract.ts';
import type { TestApp } from '../support/app.ts';
import { elementSettings } from '../../src/protocol/element-settings.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

let app: TestApp;
beforeEach(async () => {
  app = await build({ provider: new FakeProvider({ call: 'brokered' }) });
});

/** A key of a tenant that has these agents. */
async function keyFor(agents: readonly Agent[], fields: Partial<WidgetKey> = {}): Promise<WidgetKey> {
  await app.service.stores.tenants.merge([{ id: 'museum', name: 'Museum', admins: null, keys: [], agents }]);
  return app.key({ tenantId: 'museum', ...fields });
}

const ask = ({ key, origin }: Pick<WidgetKey, 'key' | 'origin'>, more = '', at = origin) =>
  app.get(`/api/realtime/agent?widgetKey=${key}${more}`, at === '' ? {} : { origin: at });

describe('What a page is told about an agent before a conversation', () => {
  test.each([
    [{}, { captions: false, greets: false, push: false, tellAi: true }],
    [{ dataChannel: 'none' }, { captions: true, greets: false, push: false, tellAi: true }],
    [
      { dataChannel: 'none', transcribe: false },
      { captions: false, greets: false, push: false, tellAi: true },
    ],
    [
      { transcribe: {}, greeting: 'Hello.' },
      { captions: true, greets: true, push: false, tellAi: true },
    ],
    [{ turns: { detect: 'push' } }, { captions: false, greets: false, push: true, tellAi: true }],
    [{ turns: { detect: 'silence' } }, { captions: false, greets: false, push: false, tellAi: true }],
    [{ tellAi: false }, { captions: false, greets: false, push: false, tellAi: false }],
    [
      { tellAi: 'greeting', greeting: 'I am an AI.' },
      { captions: false, greets: true, push: false, tellAi: false },
    ],
    // Without a greeting nothing would tell the visitor.
    [{ tellAi: 'greeting' }, { captions: false, greets: false, push: false, tellAi: true }],
  ] as const)('is the same as in the reply to a create, for an agent that is set to %j', async (settings, expected) => {
    const key = await keyFor([{ id: 'guide', instructions: 'A secret of the museum.', ...settings }], {
      agents: ['guide'],
    });
    const { status, body, text } = await ask(key);
    expect([status, body]).toEqual([200, { agent: expected }]);
    expect(text).not.toContain('secret');
    expect((await app.create(key)).body['agent']).toEqual(expected);
  });

  test('includes the looks and texts of its element, which no create repeats', async () => {
    const element = {
      texts: { launcher: 'Ask Ada' },
      colours: { accent: '#0b6651' },
      placement: 'top-left',
      consent: 'Yes?',
    };
    const key = await keyFor([{ id: 'guide', element } as Agent], { agents: ['guide'] });
    const { body } = await ask(key);
    expect(body['agent']).toMatchObject({ tellAi: true, element });
    expect((await app.create(key)).body['agent']).not.toHaveProperty('element');
  });

  test.each([
    [{ colours: { accent: 'red' } }],
    [{ colours: { accent: '#12' } }],
    [{ colours: { accent: '#000; background: url(//evil.example)' } }],
    [{ colours: { accent: 'var(--x)' } }],
    [{ colours: { font: '#000000' } }],
    [{ colours: { 'accent}*{': '#000000' } }],
    [{ placement: 'inline' }],
    [{ consent: '' }],
    [{ consent: 'x'.repeat(501) }],
    [{ texts: { launcher: '' } }],
    [{ texts: { launcher: 'x'.repeat(201) } }],
    [{ texts: { __proto__x: 'x' } }],
    [{ texts: { status: { ready: { deep: 'x' } } } }],
    [{ texts: Object.fromEntries(Array.from({ length: 30 }, (_, n) => ['a'.repeat(n + 1), 'x'.repeat(190)])) }],
    [{ font: 'serif' }],
  ])('does not accept element settings such as %j', (element) => {
    expect(elementSettings.safeParse(element).success).toBe(false);
  });

  test.each([
    [{}],
    [{ colours: { 'accent-ink': '#FFF', 'orb-1': '#01020304' } }],
    [{ texts: { launcher: 'Fragen Sie <Ada>', errors: { BOT_BLOCKED: 'No.' } } }],
  ])('accepts element settings such as %j', (element) => {
    expect(elementSettings.parse(element)).toEqual(element);
  });

  test('is about the named agent', async () => {
    const key = await keyFor([{ id: 'guide' }, { id: 'quiet', tellAi: false }], { agents: ['guide', 'quiet'] });
    expect((await ask(key, '&agentId=quiet')).body).toMatchObject({ agent: { tellAi: false } });
    expect((await ask(key, '&agentId=guide')).body).toMatchObject({ agent: { tellAi: true } });
    expect(await ask(key)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await ask(key, '&agentId=other')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  test('is for pages of the key’s origin, and for callers that send no origin', async () => {
    const key = await keyFor([{ id: 'guide' }]);
    expect(await ask(key, '', 'https://evil.example')).toMatchObject({
      status: 403,
      body: { code: 'ORIGIN_MISMATCH' },
    });
    expect((await ask(key, '', '')).status).toBe(200);
    const { headers } = await ask(key);
    expect(headers['access-control-allow-origin']).toBe(key.origin);
    expect(headers['cache-control']).toBe('public, max-age=60');
    expect(headers['vary']).toContain('Origin');
  });

  test('is not for callers without a key', async () => {
    const key = await keyFor([{ id: 'guide' }], { revokedAtMs: 1 });
    for (const text of ['w_nobody', key.key]) {
      const reply = await ask({ key: text, origin: key.origin });
      expect(reply).toMatchObject({ status: 401, body: { code: 'INVALID_WIDGET_KEY' } });
    }
    expect(await app.get('/api/realtime/agent')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', details: [{ path: 'widgetKey' }] },
    });
    expect((await ask(await app.key(), '&what=1')).status).toBe(400);
  });

  test('promises the greeting even if the page opens the call itself, and then asks for it', async () => {
    app = await build({ provider: new FakeProvider() });
    const key = await keyFor([{ id: 'guide', tellAi: 'greeting', greeting: 'I am an AI.' }], { agents: ['guide'] });
    const { text, body } = await ask(key);
    expect(body).toEqual({ agent: { captions: false, greets: true, push: false, tellAi: true } });
    const created = await app.create(key);
    expect(created.body['agent']).toEqual(body['agent']);
    expect(text + JSON.stringify(created.body)).not.toContain('I am an AI');
  });

  test('does not promise a greeting if nobody can ask for one', async () => {
    app = await build({ provider: new FakeProvider({ converses: false }) });
    const key = await keyFor([{ id: 'guide', greeting: true }], { agents: ['guide'] });
    expect((await ask(key)).body).toMatchObject({ agent: { greets: false } });
  });

  test('does not ask for a button to hold if the provider alone decides when it hears visitors', async () => {
    app = await build({ provider: new FakeProvider({ call: 'brokered', converses: false }) });
    const key = await keyFor([{ id: 'guide', turns: { detect: 'push' } }], { agents: ['guide'] });
    expect((await ask(key)).body).toMatchObject({ agent: { push: false } });
  });

  test('opens no session, and asks no provider', async () => {
    const key = await app.key();
    await ask(key);
    expect(await app.service.stores.sessionSetups.find('anything')).toBeUndefined();
    expect(app.provider.requests).toEqual([]);
  });
});
