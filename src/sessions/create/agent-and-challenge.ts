import type { CreateAttempt, WorkQuestion } from '../../bots/contract.ts';
import type { AltchaChallenge } from '../../protocol/challenge.ts';
import type { AgentReply } from '../../protocol/create.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Tenant, WidgetKey } from '../../stores/tenants/contract.ts';
import { resolveSessionConfig } from '../../tenants/agents.ts';
import { invalidWidgetKey } from '../../tenants/directory.ts';
import { configAt, originRefusal } from './admit-caller.ts';
import { agentTermsOf } from './make-session.ts';
import type { CreateDeps } from './step.ts';

// What a page asks for before it creates a session: about the agent, and for a proof of work.

/** Names an agent the way a create does. */
export interface AgentQuestion {
  readonly widgetKey: string;
  readonly agentId?: string | undefined;
  /** Origin of the page; undefined where its browser does not send it. */
  readonly origin: string | undefined;
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

/** Who asks for a proof of work, and for which key. */
export interface WorkRequest extends Pick<WorkQuestion, 'headers'> {
  readonly widgetKey: string;
  /** Origin of the page; undefined where its browser does not send it. */
  readonly origin: string | undefined;
  readonly addressScope: string;
  readonly window: CreateAttempt['window'];
  readonly atMs: number;
}

/**
 * Issues a proof-of-work challenge that a create of the key accepts (docs/contract.md, section 5.16). Nothing is stored: the challenge is signed.
 * @returns a Refusal INVALID_WIDGET_KEY, ORIGIN_MISMATCH, or NOT_FOUND where the key's challenges come from another provider
 */
export function issueChallenge(
  asked: WorkRequest,
  { tenants, bots, suspects }: Pick<CreateDeps, 'tenants' | 'bots' | 'suspects'>,
): AltchaChallenge | Refusal {
  const found = keyOfPage(asked, { tenants });
  if (found instanceof Refusal) return found;
  const { key } = found;
  const { headers, addressScope, window, atMs } = asked;
  const suspicions = suspects.reasonsFor({ key, address: addressScope, window }, atMs);
  const work = bots.work?.({ headers, widget: { key, atMs, suspicions } });
  return (
    work ??
    new Refusal('NOT_FOUND', 'This widgetKey has no proof of work: its challenges are those of another provider.')
  );
}

/**
 * The key that a page asks about with a GET, with its tenant. A page of Switchboard's own origin sends no Origin with that; an answer is secret to
 * nobody, and what is made with it is checked again by the create.
 * @returns a Refusal INVALID_WIDGET_KEY or ORIGIN_MISMATCH
 */
function keyOfPage(
  { widgetKey, origin }: { readonly widgetKey: string; readonly origin: string | undefined },
  { tenants }: Pick<CreateDeps, 'tenants'>,
): { readonly key: WidgetKey; readonly tenant: Tenant } | Refusal {
  const found = tenants.keyOf(widgetKey);
  if (found === undefined || found.key.revokedAtMs !== null) return invalidWidgetKey();
  return origin === undefined || origin === found.key.origin ? found : originRefusal(found.key, origin);
}
