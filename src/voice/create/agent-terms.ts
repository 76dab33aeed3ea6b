import { transcriptionOf } from '../../protocol/behaviour.ts';
import type { AgentReply, AgentTerms } from '../../protocol/create.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import { resolveSessionConfig } from '../../tenants/agents.ts';
import type { UpstreamProvider } from '../../upstream/contract.ts';
import { configAt, keyOfPage } from './admit-caller.ts';
import type { CreateDeps } from './step.ts';

/** Names an agent the way a create does. */
export interface AgentQuestion {
  readonly widgetKey: string;
  readonly agentId?: string | undefined;
  /** Origin of the page; undefined where its browser does not send it. */
  readonly origin: string | undefined;
}

type SessionTerms = Pick<SessionSetup, 'callMode' | 'behaviour'>;

/** Whether Switchboard itself adds words to the session's calls, and reads them. */
export function converses({ callMode }: Pick<SessionTerms, 'callMode'>, { capabilities }: UpstreamProvider): boolean {
  return callMode === 'brokered' && capabilities.converses;
}

/** What a page has to know about the agent of a session. @param isGreeted whether the visitor was greeted already */
export function agentTermsOf(
  { callMode, behaviour }: SessionTerms,
  provider: UpstreamProvider,
  isGreeted: boolean,
): AgentTerms {
  const isHeard = converses({ callMode }, provider);
  const { greeting, turns, tellAi = true } = behaviour ?? {};
  const isGreeting = provider.capabilities.converses && greeting !== undefined;
  return {
    // The agent's own words are always transcribed; this is about the visitor's.
    captions: isHeard && transcriptionOf(behaviour ?? {}) !== undefined,
    greets: isGreeting && !isGreeted,
    push: turns?.detect === 'push' && provider.capabilities.converses,
    // Where the page opens the call, the page itself must ask for the greeting.
    tellAi: tellAi === 'greeting' ? !(isGreeting && isHeard) : tellAi,
  };
}

/**
 * What a page has to know about an agent before it asks for a session (docs/contract.md, section 5.15): the same for all visitors of a key.
 * @returns a Refusal INVALID_WIDGET_KEY, ORIGIN_MISMATCH, or FORBIDDEN for an agent that the key does not allow
 */
export function describeAgent(
  asked: AgentQuestion,
  { tenants, calls, provider }: Pick<CreateDeps, 'tenants' | 'calls' | 'provider'>,
): AgentReply['agent'] | Refusal {
  const found = keyOfPage(asked, { tenants });
  if (found instanceof Refusal) return found;
  const { key, tenant } = found;
  const config = resolveSessionConfig(tenant, key, { agentId: asked.agentId }, calls.modeOf);
  if (config instanceof Refusal) return config;
  const element = tenant.agents.find(({ id }) => id === config.agentId)?.element;
  return { ...agentTermsOf(configAt(provider, config), provider, false), ...(element && { element }) };
}
