import { z } from 'zod';

/** One problem, with its path in the file, for example `tenants[0].widgetKeys[1].origin`. */
export interface FileProblem {
  readonly path: string;
  readonly message: string;
}

const word = z.string().optional().catch(undefined);
const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);

/** The names in a file, read leniently, so that clashes are reported together with all other problems. */
const outline = z
  .object({
    tenants: listOf(
      z
        .object({
          id: word,
          agents: listOf(z.object({ id: word }).catch({})),
          webhooks: listOf(z.object({ id: word }).catch({})),
          widgetKeys: listOf(z.object({ id: word, key: word, agents: listOf(word) }).catch({ agents: [] })),
        })
        .catch({ agents: [], webhooks: [], widgetKeys: [] }),
    ),
  })
  .catch({ tenants: [] });

/** Finds what only shows when entries are compared: names used twice, and keys restricted to agents that their tenant does not have. */
export function findConflicts(content: unknown): FileProblem[] {
  const { tenants } = outline.parse(content);
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
