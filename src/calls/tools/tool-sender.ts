import { cacheFor } from '../../kernel/collections.ts';
import type { Clock } from '../../kernel/time.ts';
import { OutboundFailure, PAUSED, type Outbound } from '../../outbound/contract.ts';
import { secretNamesOf } from '../../protocol/server-tool.ts';
import type { ToolCalls } from '../../stores/voice-calls/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import { MAX_REPLY_BYTES } from './tool-limits.ts';
import { FAILURES, outcomeOf, type ToolOutcome } from './tool-reply.ts';
import { bodyOf, headersOf, type ToolRequest } from './tool-request.ts';

/** How long secrets are cached: a changed one is used within that time. */
const SECRETS_MS = 30_000;
const MAX_SECRETS = 10_000;

/** The secrets that requests to a tenant's tools are signed and authorised with. @throws Unavailable, and a fault if no secret can be read */
export interface ToolSecrets {
  /** `whsec_…`, the newest first; the first request makes one. */
  signing(tenantId: string): Promise<readonly string[]>;
  /** Undefined where there is no secret of that name. */
  read(tenantId: string, name: string): Promise<string | undefined>;
}

/** What a node calls tools of the server with. */
export interface ServerToolParts {
  readonly sender: Pick<ToolSender, 'send'>;
  readonly store: ToolCalls;
  /** How many tool calls a session of the agent may have, over all its tools. */
  readonly perSession: (tenantId: string, agentId: string | null) => number;
}

export interface ToolSenderDeps {
  readonly outbound: Outbound;
  readonly secrets: ToolSecrets;
  /** Opens what a back end handed on for the servers of a session's tools. @throws SealBroken; Error where nothing can open it */
  readonly openContext: (sealed: NonNullable<ToolRequest['sealed']>) => unknown;
  readonly clock: Clock;
  readonly events: Pick<Events, 'toolSecretMissing'>;
  readonly onError: (error: unknown) => void;
}

interface SendOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called once everything is ready, just before the request leaves. */
  readonly leaves: () => void;
}

/** Sends this node's requests to the servers of tools, signed, with the secrets that their headers name. */
export class ToolSender {
  readonly #deps: ToolSenderDeps;
  readonly #signing = cacheFor<readonly string[]>(SECRETS_MS, MAX_SECRETS);
  readonly #values = cacheFor<string | undefined>(SECRETS_MS, MAX_SECRETS);

  constructor(deps: ToolSenderDeps) {
    this.#deps = deps;
  }

  /** Never rejects: a failure is an outcome with a code. */
  async send(request: ToolRequest, { timeoutMs, signal, leaves }: SendOptions): Promise<ToolOutcome> {
    const { outbound, secrets, openContext, clock, onError } = this.#deps;
    const { tool, context, sealed } = request;
    const { tenantId, ref } = context.session;
    try {
      const values = await this.#valuesFor(tenantId, request);
      if (typeof values === 'string') return { code: 'failed', detail: `secret ${values} is not set` };
      const signing = await this.#signing(tenantId, clock.now(), () => secrets.signing(tenantId));
      const at = clock.now();
      const body = bodyOf(request, sealed === null ? {} : openContext(sealed), at);
      const headers = headersOf(request, body, signing, values, at);
      leaves();
      return outcomeOf(
        await outbound.request({
          method: 'POST',
          url: new URL(tool.url),
          owner: tenantId,
          session: ref,
          headers,
          body,
          timeoutMs,
          maxReplyBytes: MAX_REPLY_BYTES,
          signal,
        }),
      );
    } catch (fault) {
      if (fault instanceof OutboundFailure) return { code: FAILURES[fault.kind], detail: describeFailure(fault) };
      onError(fault);
      return { code: 'failed', detail: 'the request could not be made: the log of Switchboard says why' };
    }
  }

  /** The values of the secrets that the tool's headers name; or the name of a missing one, which is logged. */
  async #valuesFor(tenantId: string, { tool }: ToolRequest): Promise<ReadonlyMap<string, string> | string> {
    const { secrets, clock, events } = this.#deps;
    const values = new Map<string, string>();
    for (const name of secretNamesOf(tool)) {
      const value = await this.#values(`${tenantId}/${name}`, clock.now(), () => secrets.read(tenantId, name));
      if (value === undefined) {
        events.toolSecretMissing(tenantId, tool.name, name);
        return name;
      }
      values.set(name, value);
    }
    return values;
  }
}

function describeFailure({ kind, detail }: OutboundFailure): string | undefined {
  if (kind === 'forbidden') return 'no address that Switchboard may reach';
  if (detail === PAUSED) return 'not tried again yet, after failures in a row';
  return detail;
}
