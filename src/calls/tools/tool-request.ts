import { randomBytes } from 'node:crypto';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { isObject, parseJson } from '../../kernel/post.ts';
import { iso } from '../../kernel/time.ts';
import { traceParentFor } from '../../kernel/trace-context.ts';
import type { Metadata } from '../../protocol/create.ts';
import type { ServerTool } from '../../protocol/server-tool.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import { TOOL_SPAN } from '../../telemetry/traces/session-spans.ts';
import { signedHeaders } from '../../webhooks/signature.ts';

/** More than the arguments of any tool need. */
const MAX_ARGUMENTS_BYTES = 64 * 1024;

/** What a model calls a tool with. */
type Arguments = Readonly<Record<string, unknown>>;

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
  readonly arguments: Arguments;
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
  args: Arguments,
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

const isOf: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
};

/**
 * The arguments of a tool call, if they are an object with everything that the tool requires, each value of the type that its parameters declare.
 * Only the first level is checked: the tool's server checks the rest.
 * @param json as the model wrote it
 * @param parameters a JSON schema
 * @returns undefined for arguments that do not fit
 */
export function readArguments(json: string, parameters: Arguments | undefined): Arguments | undefined {
  const parsed = parse(json);
  if (parsed === undefined) return undefined;
  const { properties, required } = parameters ?? {};
  const names = Array.isArray(required) ? required.map(String) : [];
  if (!names.every((name) => Object.hasOwn(parsed, name))) return undefined;
  const schemas = isObject(properties) ? properties : {};
  return Object.entries(parsed).every(([name, value]) => fits(value, Object.hasOwn(schemas, name) ? schemas[name] : {}))
    ? parsed
    : undefined;
}

function parse(json: string): Arguments | undefined {
  if (Buffer.byteLength(json) > MAX_ARGUMENTS_BYTES) return undefined;
  const parsed = parseJson(json.trim() === '' ? '{}' : json);
  return isObject(parsed) ? parsed : undefined;
}

/** A type that JSON schema does not define does not make a value fail. */
function fits(value: unknown, schema: unknown): boolean {
  const { type } = isObject(schema) ? schema : {};
  if (type === undefined) return true;
  return [type].flat().some((name) => typeof name !== 'string' || (isOf[name]?.(value) ?? true));
}
