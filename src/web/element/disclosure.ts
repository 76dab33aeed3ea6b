import type { AgentReply, AgentTerms } from '../../protocol/create.ts';

/** What is shown of an agent before a conversation. */
export type Disclosure = Pick<AgentTerms, 'tellAi' | 'push'>;

/** Where the server does not say, visitors are told that they speak with an AI. */
export const unknown: Disclosure = { tellAi: true, push: false };

/** Asks what the visitors of a key's agent have to be told before a conversation (docs/contract.md, section 5.15). */
export async function askAgent(baseUrl: string, widgetKey: string, agentId: string | undefined): Promise<Disclosure> {
  const query = new URLSearchParams({ widgetKey, ...(agentId !== undefined && { agentId }) });
  try {
    const reply = await fetch(`${baseUrl.replace(/\/+$/, '')}/api/realtime/agent?${query}`, { credentials: 'omit' });
    const { agent } = (await reply.json()) as Partial<AgentReply>;
    return agent ?? unknown;
  } catch {
    return unknown;
  }
}
