import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../protocol/refusal.ts';
import type { Tool } from '../protocol/agent.ts';
import type { CallMode, DataChannel } from '../protocol/call.ts';
import { BEHAVIOUR_FIELDS, behaviourOf, type Behaviour } from '../protocol/behaviour.ts';
import type { CreateRequest, Metadata } from '../protocol/create.ts';
import type { ModelPrice } from '../protocol/price.ts';
import { SERVER_TOOL, serverToolsOf } from '../protocol/server-tool.ts';
import type { Agent, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { isBrokered, type UpstreamProvider } from '../upstream/contract.ts';

/** What a session speaks with if neither the caller nor the agent says. */
export const DEFAULT_MODEL = 'gpt-realtime-2.1';
const DEFAULT_VOICE = 'marin';

/** What a caller may ask of the session; all of it is optional. */
export type SessionWish = Pick<
  CreateRequest,
  'agentId' | 'model' | 'voice' | 'instructions' | 'tools' | 'metadata' | keyof Behaviour
>;

/** How the calls of a session are opened, given what a key or an agent asks for; undefined if neither asks. */
export type CallModeOf = (asked: CallMode | undefined) => CallMode;

/**
 * How the calls of sessions are opened: as the key or the agent asks, otherwise as CALL_MODE says. A provider whose calls cannot be brokered has
 * direct calls only. A simulated provider has brokered calls only, because its client secrets open nothing.
 */
export function createCallModes(mode: CallMode, provider: UpstreamProvider): CallModeOf {
  if (!isBrokered(provider)) return () => 'direct';
  return provider.simulated ? () => 'brokered' : (asked = mode) => asked;
}

/** What the session will be. */
export interface SessionConfig {
  /** An agent of the tenant, or a label that only the caller knows. */
  readonly agentId: string | null;
  readonly model: string;
  readonly voice: string;
  readonly instructions: string | undefined;
  readonly tools: readonly Tool[];
  readonly callMode: CallMode;
  /** Null if all of it is the provider's default. */
  readonly behaviour: Behaviour | null;
  /** Always open for calls that the page opens itself. */
  readonly dataChannel: DataChannel;
  /** Whether its key has `allowOverrides: false`: the page may change nothing about the session. */
  readonly forbidsOverrides: boolean;
  /** The agent's own price, if the session uses the agent's own model. */
  readonly price: ModelPrice | null;
  readonly metadata: Metadata | null;
  /** The name of the agent at a provider that has agents of its own; null if it names none. */
  readonly agentName: string | null;
  /** The version of the agent in `agentId`; null without one. */
  readonly agentVersion: string | null;
}

/**
 * Decides what the session will be: what the caller says, otherwise what the agent says, otherwise the default (docs/contract.md, sections 3 and
 * 5.1).
 * @param key null for a console caller, who is neither restricted to agents nor kept from overriding
 * @returns a Refusal FORBIDDEN for an agent or an override that the key does not allow
 */
export function resolveSessionConfig(
  tenant: Tenant,
  key: WidgetKey | null,
  wish: SessionWish,
  callModeOf: CallModeOf,
): SessionConfig | Refusal {
  const agentId = chooseAgent(key, wish.agentId);
  if (agentId instanceof Refusal) return agentId;
  const agent = tenant.agents.find(({ id }) => id === agentId);
  if (agent === undefined && agentId !== null && key?.agents != null)
    return new Refusal(
      'FORBIDDEN',
      `This widgetKey is pinned to the agent "${agentId}", which its tenant does not have any more.`,
      {},
      { layer: 'agent', lever: 'agents', expected: agentId },
    );
  const overrides = key === null || key.allowOverrides ? [] : findOverrides(agent, wish);
  if (overrides.length > 0) {
    const than =
      agentId === null ? 'name an agent of the tenant and leave them out' : `leave them to the agent "${agentId}"`;
    return new Refusal(
      'FORBIDDEN',
      `This widgetKey does not allow to override ${overrides.join(', ')}; ${than}.`,
      {},
      { layer: 'agent', lever: 'allowOverrides', fact: `the request overrode ${overrides.join(', ')}` },
    );
  }
  const ownModel = agent?.model ?? DEFAULT_MODEL;
  const model = wish.model ?? ownModel;
  const callMode = callModeOf(key?.call ?? agent?.call);
  const dataChannel = callMode === 'brokered' ? channelOf(key, agent) : 'open';
  return {
    agentId,
    model,
    voice: wish.voice ?? agent?.voice ?? DEFAULT_VOICE,
    instructions: wish.instructions ?? agent?.instructions,
    tools: toolsOf(agent, wish, callMode),
    callMode,
    behaviour: chooseBehaviour(agent, wish, dataChannel),
    dataChannel,
    forbidsOverrides: key !== null && !key.allowOverrides,
    price: model === ownModel ? (agent?.price ?? null) : null,
    metadata: wish.metadata ?? null,
    agentName: agent?.agentName ?? null,
    agentVersion: agent === undefined ? null : agentVersionOf(agent),
  };
}

/**
 * The data channel of brokered calls. The default is `open`. It applies only to keys from the tenants file and to console callers, because issued keys
 * always set it (`newKeyTerms`); and not if the agent has server tools, because a page with a data channel can word what they are asked.
 */
export function channelOf(key: WidgetKey | null, agent: Agent | undefined): DataChannel {
  const hasServerTools = serverToolsOf(agent?.tools ?? []).size > 0;
  return key?.dataChannel ?? agent?.dataChannel ?? (hasServerTools ? 'none' : 'open');
}

/**
 * A caller's tools name no address for Switchboard, unless they are exactly those of the agent. In calls that the page opens itself Switchboard hears
 * nothing, so its own tools would be asked for and never answered: the agent is not told of them.
 */
function toolsOf(agent: Agent | undefined, { tools }: SessionWish, callMode: CallMode): readonly Tool[] {
  const own = agent?.tools ?? [];
  const all = tools === undefined || isDeepStrictEqual(tools, own) ? own : withoutAddresses(tools);
  return callMode === 'direct' ? all.filter(({ kind }) => kind !== SERVER_TOOL) : all;
}

/**
 * A key that is restricted to one agent means that one. If it is restricted to several the caller must say which: taking the first would let the
 * order of a list decide what speaks to a visitor and what it costs.
 */
function chooseAgent(key: WidgetKey | null, asked: string | undefined): string | null | Refusal {
  const pins = key?.agents ?? null;
  if (pins === null) return asked ?? null;
  if (asked !== undefined && pins.includes(asked)) return asked;
  const [only, ...others] = pins;
  if (asked === undefined && only !== undefined && others.length === 0) return only;
  const allowed = `This widgetKey allows ${pins.length === 0 ? 'no agent' : `the agents ${pins.join(', ')}`}`;
  return new Refusal(
    'FORBIDDEN',
    asked === undefined ? `${allowed}; name one as agentId.` : `${allowed}, not "${asked}".`,
    {},
    { layer: 'agent', lever: 'agents', expected: pins.join(', ') },
  );
}

/** The fields that ask for something other than the agent has; an empty list or text asks for nothing. */
function findOverrides(agent: Agent | undefined, wish: SessionWish): string[] {
  const changed = {
    model: wish.model !== undefined && wish.model !== agent?.model,
    voice: wish.voice !== undefined && wish.voice !== agent?.voice,
    instructions: wish.instructions !== undefined && wish.instructions !== (agent?.instructions ?? ''),
    tools: wish.tools !== undefined && !isDeepStrictEqual(wish.tools, agent?.tools ?? []),
  };
  const behaves = BEHAVIOUR_FIELDS.filter(
    (field) => wish[field] !== undefined && !isDeepStrictEqual(wish[field], agent?.[field]),
  );
  return [...Object.entries(changed).flatMap(([field, isChanged]) => (isChanged ? [field] : [])), ...behaves];
}

/** Without a data channel only the provider can write down what a visitor says, which captions need. */
function chooseBehaviour(agent: Agent | undefined, wish: SessionWish, dataChannel: DataChannel): Behaviour | null {
  const asked = { ...(agent && behaviourOf(agent)), ...behaviourOf(wish) };
  return behaviourOf(dataChannel === 'none' ? { transcribe: {}, ...asked } : asked);
}

const VERSION_LENGTH = 12;

const versions = new WeakMap<Agent, string>();

/**
 * Names the definition that an agent has at present: 12 hex digits, the same on every node and for the same definition, whatever the order of its
 * fields. It leaves out what tools send in headers, because that may be secret, and how the element of a page shows the agent.
 */
function agentVersionOf(agent: Agent): string {
  const known = versions.get(agent);
  if (known !== undefined) return known;
  const tools = agent.tools?.map((tool) => ({ ...tool, headers: undefined }));
  const text = JSON.stringify({ ...agent, tools, element: undefined }, inOrder);
  const version = createHash('sha256').update(text).digest('hex').slice(0, VERSION_LENGTH);
  versions.set(agent, version);
  return version;
}

/** Fields are sorted, because the database returns them in an order of its own. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Tools that a caller brings: whatever they say, addresses and headers for Switchboard are removed from them. */
function withoutAddresses(tools: readonly Tool[]): readonly Tool[] {
  return tools.map((found) => {
    if (found.kind !== SERVER_TOOL) return found;
    const { kind, name, description } = found;
    const parameters = found['parameters'];
    return {
      kind,
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    };
  });
}
