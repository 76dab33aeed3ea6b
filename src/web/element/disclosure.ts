import type { AgentTerms } from '../../protocol/create.ts';
import type { ElementSettings } from '../../protocol/element-settings.ts';

/** What to show about an agent before a conversation, and how the element looks. */
export type Disclosure = Pick<AgentTerms, 'tellAi' | 'push'> & { readonly element?: ElementSettings };

/** If the server does not say, visitors are told that they speak with an AI. */
export const unknown: Disclosure = { tellAi: true, push: false };

/** How long to wait for the server. */
const REPLY_MS = 3000;

/** Asks what visitors must be told about a key's agent before a conversation, and how the element looks (docs/contract.md, section 5.15). */
export async function askAgent(
  baseUrl: string,
  widgetKey: string | undefined,
  agentId: string | undefined,
): Promise<Disclosure> {
  if (widgetKey === undefined) return unknown;
  const query = new URLSearchParams({ widgetKey, ...(agentId !== undefined && { agentId }) });
  try {
    const reply = await fetch(`${baseUrl.replace(/\/+$/, '')}/api/realtime/agent?${query}`, {
      credentials: 'omit',
      signal: AbortSignal.timeout(REPLY_MS),
    });
    const { agent } = (await reply.json()) as { readonly agent?: Disclosure };
    return agent ?? unknown;
  } catch {
    return unknown;
  }
}

/** Applies the server's settings for the look, except where the page's attributes or styles say otherwise. */
export function applyLooks(host: HTMLElement, { element = {} }: Disclosure): void {
  const { placement, consent, colours = {} } = element;
  for (const [name, value] of Object.entries({ placement, consent }))
    if (value !== undefined && !host.hasAttribute(name)) host.setAttribute(name, value);
  for (const [name, value] of Object.entries(colours)) {
    const property = `--switchboard-${name}`;
    if (getComputedStyle(host).getPropertyValue(property) === '') host.style.setProperty(property, value);
  }
}
