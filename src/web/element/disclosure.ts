import type { AgentReply } from '../../protocol/create.ts';

/**
 * Asks whether the agent of a key has its visitors told that they speak with an AI (docs/contract.md, section 5.15). They are told as well
 * where the server does not say.
 */
export async function tellsAi(baseUrl: string, widgetKey: string, agentId: string | undefined): Promise<boolean> {
  const query = new URLSearchParams({ widgetKey, ...(agentId !== undefined && { agentId }) });
  try {
    const reply = await fetch(`${baseUrl.replace(/\/+$/, '')}/api/realtime/agent?${query}`, { credentials: 'omit' });
    const { agent } = (await reply.json()) as AgentReply;
    return agent.tellAi;
  } catch {
    return true;
  }
}
