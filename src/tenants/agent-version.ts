import { createHash } from 'node:crypto';
import type { Agent } from '../stores/tenants/contract.ts';

const LENGTH = 12;

const versions = new WeakMap<Agent, string>();

/**
 * Names the definition that an agent has at present: 12 hex digits, the same on every node and for the same definition, in whichever order its
 * fields are. What tools send in headers is not of it, because that may be secret, and neither
 * is how the element of a page shows it.
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

/** The database gives fields back in an order of its own. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
