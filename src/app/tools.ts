import { TOOL_CALLS_PER_SESSION, ToolSender, type ServerToolParts } from '../calls/tools/tool-sender.ts';
import { deadline } from '../kernel/async.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { readSecret, signingSecrets } from '../tenant-secrets/secrets.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import type { Core } from './core.ts';
import type { Outbound, OutboundReply, OutboundRequest } from '../outbound/contract.ts';
import { type Clock, iso } from '../kernel/time.ts';

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

/** Address of the demo agent's tool (config/tenants.json): a name that never resolves (RFC 2606). */
const ADDRESS = 'https://museum.invalid/opening-hours';
const MONDAY = 1;

/**
 * Answers the demo's tool within this process, so that a newcomer needs no server: its request is signed like any other, but never sent.
 * Every other request goes through the guard as usual.
 */
export function withDemoTool(outbound: Outbound, clock: Clock): Outbound {
  return {
    ...outbound,
    request: async (request) =>
      request.url.href === ADDRESS ? openingHours(request, clock.now()) : outbound.request(request),
  };
}

function openingHours({ body = '{}' }: OutboundRequest, atMs: number): OutboundReply {
  const { data } = JSON.parse(body) as { readonly data?: { readonly arguments?: { readonly date?: string } } };
  const date = data?.arguments?.date ?? iso(atMs).slice(0, 10);
  const day = new Date(`${date}T12:00:00Z`).getUTCDay();
  const hours = day === MONDAY ? { closed: true } : { opens: '10:00', closes: '18:00' };
  const answer = Number.isNaN(day) ? { error: 'date must be YYYY-MM-DD' } : { date, ...hours };
  return { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(answer)) };
}
