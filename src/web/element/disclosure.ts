import type { AgentTerms } from '../../protocol/create.ts';
import type { ElementSettings } from '../../protocol/element-settings.ts';

/** What is shown of an agent before a conversation, and how it is shown. */
export type Disclosure = Pick<AgentTerms, 'tellAi' | 'push'> & { readonly element?: ElementSettings };

/** Where the server does not say, visitors are told that they speak with an AI. */
export const unknown: Disclosure = { tellAi: true, push: false };

/** A server that is slower is not waited for. */
const REPLY_MS = 3000;

/** Asks what the visitors of a key's agent have to be told before a conversation, and how (docs/contract.md, section 5.15). */
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

/** Has the element look as the server wants it, where the page says nothing else: next to its tag, or by its styles. */
export function applyLooks(host: HTMLElement, { element = {} }: Disclosure): void {
  const { placement, consent, colours = {} } = element;
  for (const [name, value] of Object.entries({ placement, consent }))
    if (value !== undefined && !host.hasAttribute(name)) host.setAttribute(name, value);
  for (const [name, value] of Object.entries(colours)) {
    const property = `--switchboard-${name}`;
    if (getComputedStyle(host).getPropertyValue(property) === '') host.style.setProperty(property, value);
  }
}
