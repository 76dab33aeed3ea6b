import { z } from 'zod';
import { findUrlFault } from '../kernel/addresses.ts';
import { SERVER_TOOL, secretsIn, serverTool } from '../protocol/server-tool.ts';
import { issuesInWords } from '../protocol/validation-messages.ts';

/** One problem, with its path in the file, for example `tenants[0].widgetKeys[1].origin`. */
export interface FileProblem {
  readonly path: string;
  readonly message: string;
}

const word = z.string().optional().catch(undefined);
const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);
const budgets = listOf(z.object({ id: word, of: word }).catch({}));
const tools = listOf(z.looseObject({ kind: word }).catch({ kind: undefined }));

/** What entries of a tenants file are compared by, read leniently, so that clashes are reported together with all other problems. */
export const outline = z
  .object({
    budgets,
    tenants: listOf(
      z
        .object({
          id: word,
          budgets,
          agents: listOf(z.object({ id: word, tools }).catch({ tools: [] })),
          webhooks: listOf(z.object({ id: word }).catch({})),
          widgetKeys: listOf(z.object({ id: word, key: word, agents: listOf(word) }).catch({ agents: [] })),
        })
        .catch({ budgets: [], agents: [], webhooks: [], widgetKeys: [] }),
    ),
  })
  .catch({ budgets: [], tenants: [] });

export type Outline = z.output<typeof outline>;

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

/** What is wrong with the tools in a file that Switchboard is to call. */
export function findServerToolFaults({ tenants }: Outline): FileProblem[] {
  return tenants.flatMap(({ agents }, t) =>
    agents.flatMap(({ tools }, a) =>
      tools.flatMap((found, index) =>
        found.kind === SERVER_TOOL ? faultsOf(found, `tenants[${t}].agents[${a}].tools[${index}]`) : [],
      ),
    ),
  );
}

function faultsOf(found: object, path: string): FileProblem[] {
  const read = serverTool.safeParse(found);
  if (!read.success)
    return issuesInWords(serverTool, found).map((issue) => ({
      path: [path, ...issue.path.map(String)].join('.'),
      message: issue.message,
    }));
  const fault = findUrlFault(read.data.url, { ports: [], hasOwnNetworks: true });
  const names = Object.entries(read.data.headers).flatMap(([header, value]) =>
    secretsIn(value)
      .filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))
      .map((name) => ({ path: `${path}.headers.${header}`, message: `"${name}" is not the name of a secret` })),
  );
  return [...(fault === undefined ? [] : [{ path: `${path}.url`, message: fault }]), ...names];
}
