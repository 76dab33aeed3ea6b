import type { FileProblem, Outline } from './file-outline.ts';

/** Finds what only shows when entries are compared: names used twice, and keys restricted to agents that their tenant does not have. */
export function findConflicts({ tenants }: Outline): FileProblem[] {
  const problems: FileProblem[] = [];
  const once = (what: string) => {
    const seen = new Map<string, string>();
    return (name: string | undefined, path: string): boolean => {
      const first = name === undefined ? undefined : seen.get(name);
      if (first !== undefined) problems.push({ path, message: `is the same ${what} as ${first}` });
      else if (name !== undefined) seen.set(name, path);
      return first === undefined;
    };
  };
  const tenantId = once('tenant id');
  const keyText = once('key');
  for (const [t, tenant] of tenants.entries()) {
    const here = `tenants[${t}]`;
    const agentId = once('agent id');
    const keyId = once('key id');
    const webhookId = once('webhook id');
    tenantId(tenant.id, `${here}.id`);
    for (const [a, agent] of tenant.agents.entries()) agentId(agent.id, `${here}.agents[${a}].id`);
    for (const [w, webhook] of tenant.webhooks.entries()) webhookId(webhook.id, `${here}.webhooks[${w}].id`);
    for (const [k, key] of tenant.widgetKeys.entries()) {
      const isNew = keyText(key.key, `${here}.widgetKeys[${k}].key`);
      // A key without an id is its own id.
      if (isNew || key.id !== undefined) keyId(key.id ?? key.key, `${here}.widgetKeys[${k}].id`);
      problems.push(...findStrangers(key.agents, tenant.agents, `${here}.widgetKeys[${k}].agents`));
    }
  }
  return problems;
}

function findStrangers(
  pins: (string | undefined)[],
  agents: { id?: string | undefined }[],
  path: string,
): FileProblem[] {
  return pins.flatMap((pin, index) =>
    pin === undefined || agents.some(({ id }) => id === pin)
      ? []
      : [{ path: `${path}[${index}]`, message: `"${pin}" is not an agent of this tenant` }],
  );
}
