import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Reply, Request } from '../support/app.ts';

interface Response {
  readonly content?: Readonly<
    Record<string, { readonly schema: object; readonly examples?: Readonly<Record<string, unknown>> }>
  >;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: object }>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Every operation: its method, its path as the document writes it, and its responses. */
export function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );
}

/** Checks replies against an API description, and remembers which described replies were seen. */
export class Conformance {
  /** Replies that differ from the description; empty if none did. */
  readonly faults: string[] = [];
  readonly #unseen: Set<string>;
  readonly #document: Document;
  // `inlineRefs: false` compiles a schema that many replies share only once.
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false });
  readonly #checks = new Map<string, ValidateFunction>();
  readonly #patterns: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(document: Document) {
    this.#document = document;
    this.#unseen = new Set(
      operationsOf(document).flatMap(({ method, path, responses }) =>
        Object.keys(responses).map((status) => `${method} ${path} ${status}`),
      ),
    );
    this.#patterns = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }));
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'doc', components: document.components });
  }

  /** Replies that are described but were never seen. */
  get unseen(): string[] {
    return [...this.#unseen];
  }

  check({ method = 'GET', path }: Request, reply: Reply): void {
    const bare = path.split('?', 1)[0] ?? '';
    const { paths } = this.#document;
    // A fixed path goes before one with parameters.
    const template = bare in paths ? bare : this.#patterns.find(({ pattern }) => pattern.test(bare))?.path;
    const name = `${method} ${template ?? bare} ${reply.status}`;
    const response = this.#document.paths[template ?? '']?.[method.toLowerCase()]?.responses[String(reply.status)];
    if (response === undefined) return void this.faults.push(`${name} is not described`);
    this.#unseen.delete(name);
    const type = reply.headers['content-type']?.split(';', 1)[0] ?? 'text/plain';
    if (response.content === undefined && reply.text === '') return;
    const { schema, examples } = response.content?.[type] ?? {};
    if (schema === undefined) return void this.faults.push(`${name} is not described as ${type}`);
    const code = reply.body['code'];
    if (typeof code === 'string' && !(code in (examples ?? {}))) this.faults.push(`${name} does not name ${code}`);
    for (const header of [
      'x-request-id',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'retry-after',
      'location',
      'content-language',
      'set-cookie',
    ])
      if (header in reply.headers && !Object.keys(response.headers ?? {}).some((one) => one.toLowerCase() === header))
        this.faults.push(`${name} does not name the header ${header}`);
    const check = this.#checkOf(schema);
    if (check(type === 'application/json' ? reply.body : reply.text)) return;
    for (const { instancePath, message } of check.errors ?? [])
      this.faults.push(`${name}: ${instancePath} ${message} in ${reply.text.slice(0, 300)}`);
  }

  /** Replies with the same schema, as all refusals have, share a check: compiling one is expensive. */
  #checkOf(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"doc#/components');
    const known = this.#checks.get(text);
    if (known !== undefined) return known;
    const check = this.#ajv.compile(JSON.parse(text) as object);
    this.#checks.set(text, check);
    return check;
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
