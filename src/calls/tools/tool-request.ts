import { randomBytes } from 'node:crypto';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import { traceParentFor } from '../../kernel/trace-context.ts';
import { signedHeaders } from '../../webhooks/signature.ts';
import { TOOL_SPAN } from '../../telemetry/traces/session-spans.ts';
import type { ServerTool } from '../../protocol/server-tool.ts';
import type { Metadata } from '../../protocol/create.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';

/** What the server of a tool is told about the conversation in which it is called. */
export interface ToolContext {
  readonly session: {
    readonly ref: string;
    readonly tenantId: string;
    readonly agentId: string | null;
    readonly agentVersion: string | null;
    readonly subject: string;
    readonly metadata: Metadata;
  };
  readonly call: { readonly ref: string };
}

/** One call of a tool of the server, as it is sent. */
export interface ToolRequest {
  /** The provider's own id of the tool call. */
  readonly toolCallId: string;
  readonly tool: ServerTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  /** Where the request belongs in the session's trace; undefined where the session has none. */
  readonly traceparent: string | undefined;
  /** What a back end handed on for this server, sealed for the session; null where there is nothing. */
  readonly sealed: { readonly sessionId: string; readonly text: string } | null;
}

/** What the servers of a session's tools are told of its setup. */
export type SessionTerms = Pick<SessionSetup, 'metadata' | 'agentVersion' | 'sealedContext' | 'trace'>;

interface AskedIn extends SessionTerms {
  readonly call: CallRecord;
  readonly agentId: string | null;
}

/** The request for one call of a tool. */
export function requestOf(
  tool: ServerTool,
  { id: recordId, toolCallId }: Pick<ToolCallRecord, 'id' | 'toolCallId'>,
  args: ToolRequest['arguments'],
  { call: { id, sessionId, tenantId, subject }, agentId, agentVersion, metadata, sealedContext, trace }: AskedIn,
): ToolRequest {
  const session = { ref: refOf(sessionId), tenantId, agentId, agentVersion, subject, metadata: metadata ?? {} };
  const sealed = sealedContext === null ? null : { sessionId, text: sealedContext };
  const traceparent = traceParentFor(trace, TOOL_SPAN, recordId);
  return { toolCallId, tool, arguments: args, context: { session, call: { ref: id } }, traceparent, sealed };
}

/** Whether a provider's id of a tool call can identify a request: other characters could inject headers, or break the signed text. */
export function canNameRequest(toolCallId: string): boolean {
  return /^[\w-]{1,128}$/.test(toolCallId);
}

/** The body of the request. @param handedOn what a back end handed on for this server */
export function bodyOf({ tool, arguments: args, context }: ToolRequest, handedOn: unknown, atMs: number): string {
  const data = { tool: tool.name, arguments: args, ...context, context: handedOn };
  return JSON.stringify({ type: 'tool.call', timestamp: iso(atMs), data });
}

/**
 * The headers of the request, signed according to Standard Webhooks.
 * @param secrets `whsec_…`: the request is signed with each
 * @param values the secrets that the tool's own headers name
 */
export function headersOf(
  { toolCallId, tool, traceparent }: ToolRequest,
  body: string,
  secrets: readonly string[],
  values: ReadonlyMap<string, string>,
  atMs: number,
): Record<string, string> {
  const own = Object.entries(tool.headers).map(([name, value]) => [name, withSecrets(value, values)] as const);
  return {
    ...Object.fromEntries(own),
    ...signedHeaders(toolCallId, body, secrets, atMs),
    'idempotency-key': toolCallId,
    traceparent: traceparent ?? `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`,
  };
}

function withSecrets(value: string, values: ReadonlyMap<string, string>): string {
  return value.replaceAll(/\$\{secret:([^}]*)\}/g, (_, name: string) => values.get(name) ?? '');
}
