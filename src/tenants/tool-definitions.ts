import { findUrlFault } from '../kernel/server-url.ts';
import type { Tool } from '../protocol/agent.ts';
import { issuesInWords } from '../protocol/validation-messages.ts';
import { SERVER_TOOL, secretsIn, serverTool } from '../protocol/server-tool.ts';
import type { FileProblem, Outline } from './file-outline.ts';

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

/** Tools that a caller brings: whatever they say, addresses and headers for Switchboard are removed from them. */
export function withoutAddresses(tools: readonly Tool[]): readonly Tool[] {
  return tools.map((found) => {
    if (found.kind !== SERVER_TOOL) return found;
    const { kind, name, description } = found;
    const parameters = found['parameters'];
    return {
      kind,
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    };
  });
}
