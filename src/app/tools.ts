import { TOOL_CALLS_PER_SESSION } from '../calls/tools/tool-limits.ts';
import { ToolSender, type ServerToolParts } from '../calls/tools/tool-sender.ts';
import { deadline } from '../kernel/async.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { readSecret, signingSecrets } from '../secrets/secrets.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import type { Core } from './core.ts';
import { withDemoTool } from './demo-tool.ts';

interface OpenServerTools extends ServerToolParts {
  /** Closes all connections: requests under way fail. */
  close(): void;
}

/** How this node calls server tools: through the guard of requests to servers that tenants name, and with the tenants' secrets. */
export function openServerTools(core: Core, tenants: Pick<TenantDirectory, 'tenant'>): OpenServerTools {
  const { config, stores, secrets, contexts, clock, events, onError } = core;
  const outbound = createOutbound({ ...config.outbound, clock, after: deadline });
  const sender = new ToolSender({
    outbound: config.mode === 'production' ? outbound : withDemoTool(outbound, clock),
    secrets: {
      signing: (tenantId) => signingSecrets(tenantId, secrets),
      read: (tenantId, name) => readSecret(tenantId, name, secrets),
    },
    openContext: ({ sessionId, text }) => {
      if (contexts === undefined) throw new Error('There is no key to open a context by: set SEALING_KEY.');
      return JSON.parse(contexts.open(Buffer.from(text, 'base64'), sessionId)) as unknown;
    },
    clock,
    events,
    onError,
  });
  return {
    sender,
    store: stores.toolCalls,
    perSession: (tenantId, agentId) =>
      tenants.tenant(tenantId)?.agents.find(({ id }) => id === agentId)?.toolsPerSession ?? TOOL_CALLS_PER_SESSION,
    close: () => outbound.close(),
  };
}
