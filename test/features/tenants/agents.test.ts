import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { resolveSessionConfig, type SessionWish } from '../../../src/tenants/agents.ts';
import { aKey, aTenant } from './fakes.ts';

const tools = [{ kind: 'http_tool', name: 'look_up', parameters: { type: 'object', required: ['a'] } }];
const guide = { id: 'guide', model: 'gpt-mini', voice: 'cedar', instructions: 'Guide.', tools };
const tenant = aTenant('acme', { agents: [guide, { id: 'plain' }] });
const free = aKey('acme', 'free');
const locked = aKey('acme', 'locked', { allowOverrides: false });
const defaults = { agentId: null, model: 'gpt-realtime', voice: 'marin', instructions: undefined, tools: [] };

function pinned(...agents: string[]) {
  return aKey('acme', 'pinned', { agents });
}

function refusalOf(key: Parameters<typeof resolveSessionConfig>[1], wish: SessionWish): string {
  const result = resolveSessionConfig(tenant, key, wish);
  expect(result).toBeInstanceOf(Refusal);
  expect((result as Refusal).code).toBe('FORBIDDEN');
  return (result as Refusal).error;
}

describe('What a session will be', () => {
  test('comes from the defaults when nobody says', () => {
    expect(resolveSessionConfig(tenant, free, {})).toEqual(defaults);
    expect(resolveSessionConfig(tenant, null, {})).toEqual(defaults);
  });

  test('comes from the agent that the caller names', () => {
    const { id: agentId, ...rest } = guide;
    expect(resolveSessionConfig(tenant, free, { agentId: 'guide' })).toEqual({ agentId, ...rest });
    expect(resolveSessionConfig(tenant, free, { agentId: 'plain' })).toEqual({ ...defaults, agentId: 'plain' });
  });

  test('follows the caller field by field, console callers included', () => {
    const wish = { agentId: 'guide', voice: 'ash', tools: [] };
    const expected = { agentId: 'guide', model: 'gpt-mini', voice: 'ash', instructions: 'Guide.', tools: [] };
    expect(resolveSessionConfig(tenant, free, wish)).toEqual(expected);
    expect(resolveSessionConfig(tenant, null, wish)).toEqual(expected);
  });

  test('takes an agent that the tenant does not configure as a label', () => {
    const expected = { ...defaults, agentId: 'label', model: 'm' };
    expect(resolveSessionConfig(tenant, free, { agentId: 'label', model: 'm' })).toEqual(expected);
  });
});

describe('A pinned key', () => {
  test('means its only agent when the caller names none', () => {
    expect(resolveSessionConfig(tenant, pinned('guide'), {})).toMatchObject({ agentId: 'guide', model: 'gpt-mini' });
  });

  test('with several agents wants one of them to be named', () => {
    const key = pinned('guide', 'plain');
    expect(resolveSessionConfig(tenant, key, { agentId: 'plain' })).toMatchObject({ agentId: 'plain' });
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
    expect(resolveSessionConfig(tenant, locked, wish)).toMatchObject({ agentId: 'guide', tools: same });
  });

  test.each<[string, SessionWish]>([
    ['model', { model: 'gpt-realtime' }],
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
    expect(resolveSessionConfig(tenant, locked, agent)).toMatchObject({ model: 'gpt-realtime', voice: 'marin' });
    expect(resolveSessionConfig(tenant, locked, { ...agent, tools: [], instructions: '' })).not.toBeInstanceOf(Refusal);
    for (const wish of [{ model: 'gpt-realtime' }, { voice: 'marin' }, { instructions: 'x' }, { tools }])
      expect(refusalOf(locked, { ...agent, ...wish })).toContain(Object.keys(wish)[0]);
  });
});
