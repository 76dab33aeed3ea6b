import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { resolveSessionConfig, type CallModeOf, type SessionWish } from '../../../src/tenants/agents.ts';
import { newKeyTerms } from '../../../src/tenants/key-rules.ts';
import { aKey, aTenant } from './fakes.ts';

const tools = [{ kind: 'http_tool', name: 'look_up', parameters: { type: 'object', required: ['a'] } }];
const guide = { id: 'guide', model: 'gpt-mini', voice: 'cedar', instructions: 'Guide.', tools };
const tenant = aTenant('acme', { agents: [guide, { id: 'plain' }] });
const free = aKey('acme', 'free');
const locked = aKey('acme', 'locked', { allowOverrides: false });
/** What holds for calls if nothing is set. */
const calls = {
  behaviour: null,
  agentName: null,
  callMode: 'direct',
  dataChannel: 'open',
  forbidsOverrides: false,
  price: null,
  metadata: null,
} as const;
/** The version of an agent's definition. */
const agentVersion = expect.stringMatching(/^[0-9a-f]{12}$/) as unknown;
const defaults = {
  agentId: null,
  agentVersion: null,
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  instructions: undefined,
  tools: [],
  ...calls,
};

const asAsked: CallModeOf = (asked = 'direct') => asked;

function configOf(of: typeof tenant, key: typeof free | null, wish: SessionWish, callModeOf = asAsked) {
  return resolveSessionConfig(of, key, wish, callModeOf);
}

function pinned(...agents: string[]) {
  return aKey('acme', 'pinned', { agents });
}

function refusalOf(key: Parameters<typeof resolveSessionConfig>[1], wish: SessionWish): string {
  const result = configOf(tenant, key, wish);
  expect(result).toBeInstanceOf(Refusal);
  expect((result as Refusal).code).toBe('FORBIDDEN');
  return (result as Refusal).error;
}

describe('What a session will be', () => {
  test('comes from the defaults when nobody says', () => {
    expect(configOf(tenant, free, {})).toEqual(defaults);
    expect(configOf(tenant, null, {})).toEqual(defaults);
  });

  test('comes from the agent that the caller names', () => {
    const { id: agentId, ...rest } = guide;
    expect(configOf(tenant, free, { agentId: 'guide' })).toEqual({ agentId, agentVersion, ...rest, ...calls });
    expect(configOf(tenant, free, { agentId: 'plain' })).toEqual({ ...defaults, agentId: 'plain', agentVersion });
  });

  test('follows the caller field by field, console callers included', () => {
    const wish = { agentId: 'guide', voice: 'ash', tools: [] };
    const own = { model: 'gpt-mini', voice: 'ash', instructions: 'Guide.', tools: [] };
    const expected = { agentId: 'guide', agentVersion, ...own, ...calls };
    expect(configOf(tenant, free, wish)).toEqual(expected);
    expect(configOf(tenant, null, wish)).toEqual(expected);
  });

  test("has the agent's own price for the agent's own model only", () => {
    const price = { perMinute: 7, estimatePerMinute: 7 };
    const dear = { ...tenant, agents: [{ id: 'dear', model: 'own', price }] };
    const priceOf = (model?: string) => configOf(dear, free, { agentId: 'dear', model });
    expect([priceOf(), priceOf('own'), priceOf('gpt-realtime-2.1')]).toMatchObject([
      { price },
      { price },
      { price: null },
    ]);
  });

  test('takes an agent that the tenant does not configure as a label', () => {
    const expected = { ...defaults, agentId: 'label', model: 'm' };
    expect(configOf(tenant, free, { agentId: 'label', model: 'm' })).toEqual(expected);
  });
});

describe('A pinned key', () => {
  test('means its only agent when the caller names none', () => {
    expect(configOf(tenant, pinned('guide'), {})).toMatchObject({ agentId: 'guide', model: 'gpt-mini' });
  });

  test('with several agents wants one of them to be named', () => {
    const key = pinned('guide', 'plain');
    expect(configOf(tenant, key, { agentId: 'plain' })).toMatchObject({ agentId: 'plain' });
    expect(refusalOf(key, {})).toBe('This widgetKey allows the agents guide, plain; name one as agentId.');
  });

  test('refuses other agents, and labels', () => {
    expect(refusalOf(pinned('guide'), { agentId: 'plain' })).toBe(
      'This widgetKey allows the agents guide, not "plain".',
    );
    expect(refusalOf(pinned('guide'), { agentId: 'label' })).toContain('not "label"');
    expect(refusalOf(pinned(), {})).toContain('no agent');
  });

  test('refuses an agent that its tenant has lost, instead of taking it as a free label', () => {
    expect(refusalOf(pinned('gone'), {})).toContain('does not have any more');
    expect(refusalOf(pinned('gone'), { agentId: 'gone' })).toContain('does not have any more');
  });
});

describe('A key that allows no overrides', () => {
  test('lets equal values pass, whatever the order of their fields', () => {
    const same = [{ parameters: { required: ['a'], type: 'object' }, name: 'look_up', kind: 'http_tool' }];
    const wish = { agentId: 'guide', model: 'gpt-mini', voice: 'cedar', instructions: 'Guide.', tools: same };
    expect(configOf(tenant, locked, wish)).toMatchObject({ agentId: 'guide', tools: same });
  });

  test.each<[string, SessionWish]>([
    ['model', { model: 'gpt-realtime-2.1' }],
    ['voice', { voice: 'marin' }],
    ['instructions', { instructions: '' }],
    ['tools', { tools: [] }],
    ['tools', { tools: [{ ...tools[0], kind: 'http_tool', name: 'look_up', url: 'https://evil.example' }] }],
    ['model, voice', { model: 'x', voice: 'y', instructions: 'Guide.' }],
  ])("refuses another %s than the agent's", (fields, wish) => {
    const error = refusalOf(locked, { agentId: 'guide', ...wish });
    expect(error).toBe(`This widgetKey does not allow to override ${fields}; leave them to the agent "guide".`);
  });

  test.each<[string, SessionWish]>([
    ['a label', { agentId: 'label' }],
    ['no agent', {}],
  ])('with %s allows the defaults and nothing else', (_, agent) => {
    expect(configOf(tenant, locked, agent)).toMatchObject({ model: 'gpt-realtime-2.1', voice: 'marin' });
    expect(configOf(tenant, locked, { ...agent, tools: [], instructions: '' })).not.toBeInstanceOf(Refusal);
    for (const wish of [{ model: 'gpt-realtime-2.1' }, { voice: 'marin' }, { instructions: 'x' }, { tools }])
      expect(refusalOf(locked, { ...agent, ...wish })).toContain(Object.keys(wish)[0]);
  });
});

describe('How an agent of a session behaves', () => {
  const polite = {
    id: 'polite',
    greeting: 'Hello.',
    language: 'de',
    turns: { detect: 'silence' as const, silenceMs: 500 },
  };
  const shop = aTenant('shop', { agents: [polite, { id: 'plain' }] });
  const behaviourOf = (wish: SessionWish, key: ReturnType<typeof aKey> | null = aKey('shop', 'free')) => {
    const config = configOf(shop, key, wish, () => 'brokered');
    return config instanceof Refusal ? config.error : config.behaviour;
  };

  test('is what the agent says, field by field overridden by the caller', () => {
    const { id: _, ...its } = polite;
    expect(behaviourOf({ agentId: 'polite' })).toEqual(its);
    expect(behaviourOf({ agentId: 'polite', language: 'fr', speed: 1.1 })).toEqual({
      ...its,
      language: 'fr',
      speed: 1.1,
    });
    expect(behaviourOf({ agentId: 'plain' })).toBeNull();
  });

  test('cannot be changed by a page whose key allows no overrides, which may repeat it', () => {
    const key = aKey('shop', 'locked', { allowOverrides: false });
    expect(behaviourOf({ agentId: 'polite', language: 'de' }, key)).toMatchObject({ greeting: 'Hello.' });
    expect(behaviourOf({ agentId: 'polite', language: 'fr', extra: { tracing: 'auto' } }, key)).toBe(
      'This widgetKey does not allow to override language, extra; leave them to the agent "polite".',
    );
  });

  test('has visitors written down where their calls have no data channel, unless the agent says no', () => {
    const key = aKey('shop', 'mute', { dataChannel: 'none' });
    expect(behaviourOf({ agentId: 'plain' }, key)).toEqual({ transcribe: {} });
    expect(behaviourOf({ agentId: 'plain', transcribe: false }, key)).toEqual({ transcribe: false });
    const direct = configOf(shop, key, { agentId: 'plain' }, () => 'direct');
    expect(direct).toMatchObject({ behaviour: null });
  });
});

describe('How the calls of a session are opened', () => {
  const price = { perMinute: 50_000, estimatePerMinute: 50_000 };
  const agents = [
    { id: 'brokered', model: 'gpt-mini', call: 'brokered', dataChannel: 'none', price } as const,
    { id: 'silent', dataChannel: 'none', price } as const,
  ];
  const shop = aTenant('shop', { agents });
  const keyOf = (call: 'direct' | 'brokered' | null) => aKey('shop', 'key', { call });

  test.each([
    ['direct', 'brokered', 'direct'],
    ['brokered', 'silent', 'brokered'],
    [null, 'brokered', 'brokered'],
    [null, 'silent', 'direct'],
  ] as const)('is %s by the key before what the agent %s says: %s', (call, agentId, callMode) => {
    expect(configOf(shop, keyOf(call), { agentId })).toMatchObject({ callMode });
  });

  test('is as the installation decides, which is told what is asked for', () => {
    const asked: unknown[] = [];
    const callModeOf: CallModeOf = (mode) => {
      asked.push(mode);
      return 'brokered';
    };
    for (const agentId of ['brokered', 'silent', 'label'])
      expect(configOf(shop, keyOf(null), { agentId }, callModeOf)).toMatchObject({ callMode: 'brokered' });
    expect(asked).toEqual(['brokered', undefined, undefined]);
  });

  test('closes the data channel only where the call is brokered', () => {
    expect(configOf(shop, keyOf('brokered'), { agentId: 'silent' })).toMatchObject({ dataChannel: 'none' });
    expect(configOf(shop, keyOf('direct'), { agentId: 'silent' })).toMatchObject({ dataChannel: 'open' });
    expect(configOf(shop, keyOf('brokered'), {})).toMatchObject({ dataChannel: 'open' });
  });

  test('gives no data channel to the page of an agent with tools of the server, unless the agent or the key says so', () => {
    const tools = [{ kind: 'server_tool', name: 'look_up', url: 'https://tools.example/look-up' }];
    const tenant = aTenant('shop', {
      agents: [
        { id: 'tools', tools },
        { id: 'wide', tools, dataChannel: 'open' },
      ],
    });
    for (const [agentId, dataChannel, channel] of [
      ['tools', undefined, 'none'],
      ['wide', undefined, 'open'],
      ['tools', 'open', 'open'],
    ] as const) {
      const key = aKey('shop', 'key', { call: 'brokered', dataChannel });
      expect(configOf(tenant, key, { agentId })).toMatchObject({ dataChannel: channel });
    }
  });

  test.each([
    ['none', {}, 'none'],
    ['none', { agentId: 'wide' }, 'none'],
    ['open', { agentId: 'silent' }, 'open'],
    [null, { agentId: 'silent' }, 'none'],
    [null, { agentId: 'wide' }, 'open'],
    [null, {}, 'open'],
  ] as const)(
    'gives the page the data channel of the key (%s) before that of the agent of %j: %s',
    (own, wish, channel) => {
      const tenant = aTenant('shop', { agents: [...agents, { id: 'wide', dataChannel: 'open' }] });
      const key = aKey('shop', 'key', { call: 'brokered', dataChannel: own });
      expect(configOf(tenant, key, wish)).toMatchObject({ dataChannel: channel });
    },
  );

  test.each([{ agentId: 'wide' }, {}])(
    'gives no data channel to a key that was issued, whatever the agent of %j says',
    (wish) => {
      const tenant = aTenant('shop', { agents: [...agents, { id: 'wide', dataChannel: 'open' }] });
      const issued = newKeyTerms({ call: 'brokered', agents: null }, tenant, 'operator');
      expect(configOf(tenant, aKey('shop', 'key', issued), wish)).toMatchObject({ dataChannel: 'none' });
    },
  );

  test('has the price of the agent for the model of the agent, and for no other', () => {
    const priceOf = (wish: SessionWish) => (configOf(shop, null, wish) as { price: unknown }).price;
    expect(priceOf({ agentId: 'brokered' })).toEqual(price);
    expect(priceOf({ agentId: 'brokered', model: 'gpt-mini' })).toEqual(price);
    expect(priceOf({ agentId: 'brokered', model: 'gpt-large' })).toBeNull();
    expect(priceOf({ agentId: 'silent' })).toEqual(price);
    expect(priceOf({ agentId: 'silent', model: 'gpt-mini' })).toBeNull();
  });

  test('is locked where the key allows no overrides', () => {
    expect(configOf(tenant, locked, {})).toMatchObject({ forbidsOverrides: true });
    expect(configOf(tenant, null, {})).toMatchObject({ forbidsOverrides: false });
  });

  test('keeps what the creator notes', () => {
    expect(configOf(shop, null, { metadata: { campaign: 'spring' } })).toMatchObject({
      metadata: { campaign: 'spring' },
    });
  });
});
