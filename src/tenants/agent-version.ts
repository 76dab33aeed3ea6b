import { createHash } from 'node:crypto';
import type { Agent } from '../stores/tenants/contract.ts';

const LENGTH = 12;

const versions = new WeakMap<Agent, string>();

/**
 * Names the definition that an agent has at present: 12 hex digits, the same on every node and for the same definition, whatever the order of its
 * fields. It leaves out what tools send in headers, because that may be secret, and how the element of a page shows the agent.
 */
export function agentVersionOf(agent: Agent): string {
  const known = versions.get(agent);
  if (known !== undefined) return known;
  const tools = agent.tools?.map((tool) => ({ ...tool, headers: undefined }));
  const text = JSON.stringify({ ...agent, tools, element: undefined }, inOrder);
  const version = createHash('sha256').update(text).digest('hex').slice(0, LENGTH);
  versions.set(agent, version);
  return version;
}

/** Fields are sorted, because the database returns them in an order of its own. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
