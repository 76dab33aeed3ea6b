import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { closeServer, listen, portOf } from './http-server.ts';

/** A span as the collector stores it. */
export interface TakenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly fromNanos: bigint;
  readonly toNanos: bigint;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
}

/** What the collector does with a batch: takes it, takes it and breaks off its reply, answers with another status, or never answers. */
export type CollectorMode = 'take' | 'break-off' | 'hang' | { readonly status: number; readonly body?: string };

/** An OpenTelemetry collector on a free port that takes traces as OTLP/HTTP JSON and refuses everything that the protocol does not allow. */
export class Collector {
  mode: CollectorMode = 'take';
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly body: string; readonly count: number }[] = [];
  readonly spans: TakenSpan[] = [];
  resource: Readonly<Record<string, string | number>> = {};
  /** Violations of the protocol in what was sent. */
  readonly faults: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const answer = this.#answer(request.method, request.url, request.headers, body);
        if (answer === undefined) return;
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        if (this.mode === 'break-off') response.write(answer.body, () => response.destroy());
        else response.end(answer.body);
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await listen(collector.#server);
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  /** All requests, headers and bodies, as they arrived. */
  sent(): string {
    return this.requests.map(({ headers, body }) => JSON.stringify(headers) + body).join('\n');
  }

  #answer(method: string | undefined, url: string | undefined, headers: IncomingHttpHeaders, body: string) {
    try {
      if (method !== 'POST' || url !== '/v1/traces') throw new Error(`${method} ${url}`);
      if (headers['content-type'] !== 'application/json') throw new Error(`content-type ${headers['content-type']}`);
      const { resource, spans } = readRequest(JSON.parse(body));
      this.requests.push({ headers, body, count: spans.length });
      if (this.mode === 'hang') return undefined;
      if (typeof this.mode === 'object') return { status: this.mode.status, body: this.mode.body ?? '{}' };
      this.resource = resource;
      this.spans.push(...spans);
      return { status: 200, body: '{"partialSuccess":{}}' };
    } catch (fault) {
      this.faults.push(String(fault));
      return { status: 400, body: '{}' };
    }
  }
}

/** Spans whose parents are missing, except those whose parent is `remoteParent`, a span of another process. */
export function orphansOf(spans: readonly TakenSpan[], remoteParent?: string): readonly TakenSpan[] {
  const ids = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  return spans.filter(
    ({ traceId, parentSpanId }) =>
      parentSpanId !== undefined && parentSpanId !== remoteParent && !ids.has(`${traceId} ${parentSpanId}`),
  );
}

type Fields = Readonly<Record<string, unknown>>;

function readRequest(request: unknown) {
  const [whole, ...others] = listOf(fieldsOf(request, ['resourceSpans'])['resourceSpans']);
  if (others.length > 0) throw new Error('more than one resource');
  const { resource, scopeSpans } = fieldsOf(whole, ['resource', 'scopeSpans']);
  const [scoped] = listOf(scopeSpans);
  const { scope, spans } = fieldsOf(scoped, ['scope', 'spans']);
  fieldsOf(scope, ['name', 'version']);
  const found = attributesOf(fieldsOf(resource, ['attributes'])['attributes']);
  if (found['service.name'] === undefined) throw new Error('no service.name');
  return { resource: found, spans: listOf(spans).map(readSpan) };
}

const SPAN_FIELDS = ['traceId', 'spanId', 'flags', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'];

function readSpan(span: unknown): TakenSpan {
  const wanted = [...SPAN_FIELDS, 'attributes', 'links', 'status'];
  const fields = fieldsOf(span, wanted, ['parentSpanId']);
  const { traceId, spanId, parentSpanId, name, kind, flags } = fields;
  if (typeof name !== 'string' || name === '') throw new Error('no name');
  if (typeof kind !== 'number' || kind < 1 || kind > 5) throw new Error(`kind ${String(kind)}`);
  if (typeof flags !== 'number' || (flags & 1) !== 1) throw new Error(`flags ${String(flags)}`);
  const { code } = fieldsOf(fields['status'], ['code'], ['message']);
  if (code !== 0 && code !== 1 && code !== 2) throw new Error(`status ${String(code)}`);
  const [fromNanos, toNanos] = [nanosOf(fields['startTimeUnixNano']), nanosOf(fields['endTimeUnixNano'])];
  if (toNanos < fromNanos) throw new Error(`${name} ends before it begins`);
  return {
    traceId: hexOf(traceId, 32),
    spanId: hexOf(spanId, 16),
    ...(parentSpanId !== undefined && { parentSpanId: hexOf(parentSpanId, 16) }),
    name,
    kind,
    fromNanos,
    toNanos,
    attributes: attributesOf(fields['attributes']),
    links: listOf(fields['links']).map((link) => {
      const read = fieldsOf(link, ['traceId', 'spanId', 'flags', 'attributes']);
      return { traceId: hexOf(read['traceId'], 32), spanId: hexOf(read['spanId'], 16) };
    }),
    status: { code },
  };
}

/** Checks that the value is an object with all wanted fields, and besides them only optional ones. */
function fieldsOf(value: unknown, wanted: readonly string[], optional: readonly string[] = []): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`no object: ${String(value)}`);
  const names = Object.keys(value);
  const missing = wanted.filter((name) => !names.includes(name));
  const strange = names.filter((name) => !wanted.includes(name) && !optional.includes(name));
  if (missing.length + strange.length > 0) throw new Error(`missing ${missing.join()}, strange ${strange.join()}`);
  return value as Fields;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('no list');
  return value;
}

function hexOf(value: unknown, digits: number): string {
  if (typeof value !== 'string' || value.length !== digits || !/^[0-9a-f]+$/.test(value) || /^0+$/.test(value))
    throw new Error(`no id: ${String(value)}`);
  return value;
}

function nanosOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d{19}$/.test(value)) throw new Error(`no nanoseconds: ${String(value)}`);
  return BigInt(value);
}

function attributesOf(value: unknown): Record<string, string | number> {
  const pairs = listOf(value).map((one) => {
    const { key, value: given } = fieldsOf(one, ['key', 'value']);
    const [kind, held] =
      Object.entries(fieldsOf(given, [], ['stringValue', 'intValue', 'doubleValue', 'boolValue']))[0] ?? [];
    if (typeof key !== 'string' || key === '') throw new Error('an attribute without a name');
    if (kind === 'intValue' && (typeof held !== 'string' || !/^-?\d+$/.test(held)))
      throw new Error(`no integer: ${key}`);
    if (kind === 'stringValue' && typeof held !== 'string') throw new Error(`no text: ${key}`);
    return [key, kind === 'intValue' ? Number(held) : (held as string | number)] as const;
  });
  if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new Error('an attribute came twice');
  return Object.fromEntries(pairs);
}
