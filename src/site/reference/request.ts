import { contentOf, type Endpoint, type Parameter } from './document.ts';

/** A key that works on this installation, if there is one. */
export interface ExampleKey {
  readonly widgetKey: string;
  readonly agentId: string | undefined;
  readonly origin: string;
}

/** The request of an example, the same in every language. */
export interface ExampleRequest {
  readonly method: string;
  readonly url: string;
  /** What proves the caller, besides the body. */
  readonly credential: 'none' | 'cookie' | 'service' | 'ticket';
  /** Browsers send it themselves; other clients must say which page they act for. */
  readonly origin: string | undefined;
  readonly body: { readonly type: string; readonly value: unknown } | undefined;
  /** Whether the reply is JSON; otherwise it is text. */
  readonly answersJson: boolean;
  /** For a request that opens a WebSocket: its subprotocol, and the first frame. */
  readonly socket: { readonly subprotocol: string; readonly frame: object } | undefined;
}

/** The origin of a key's page in the examples, where no key is known. */
const examplePage = 'https://www.acme.example';
/** Operations that are bound to the origin of a page, by a widget key or a ticket. */
const boundToPages: ReadonlySet<string> = new Set([
  'createSession',
  'getAgent',
  'getCreateChallenge',
  'openCall',
  'openVendorCall',
]);
const firstFrames: Readonly<Record<string, object>> = {
  openSocket: { type: 'attach', sm_session_id: 's:7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4:kX2vQ9mB4tYw7nLcR1sZ0A' },
  openFeed: { type: 'watch', topics: ['counts', 'sessions'] },
};

/** The example of an operation, from its description. */
export function requestOf(
  { method, path, operation }: Endpoint,
  baseUrl: string,
  key: ExampleKey | undefined,
): ExampleRequest {
  const content = contentOf(operation.requestBody);
  const isSocket = '101' in operation.responses;
  const good = Object.entries(operation.responses).find(([status]) => status < '300')?.[1];
  const subprotocol = /Subprotocol ([\w.]+\w)/.exec(operation.description)?.[1] ?? '';
  return {
    method,
    url: `${isSocket ? baseUrl.replace(/^http/, 'ws') : baseUrl}${withParameters(path, operation, key)}`,
    credential: credentialOf(operation),
    origin: boundToPages.has(operation.operationId) ? (key?.origin ?? examplePage) : undefined,
    body: content && {
      type: content.type,
      value: isObject(content.example) ? withKey(content.example, key) : content.example,
    },
    answersJson: contentOf(good)?.type === 'application/json',
    socket: isSocket ? { subprotocol, frame: firstFrames[operation.operationId] ?? {} } : undefined,
  };
}

/** The path with its required query parameters. */
function withParameters(path: string, { parameters = [] }: Endpoint['operation'], key: ExampleKey | undefined): string {
  const exampleOf = ({ name, schema }: Parameter): string => {
    const example = schema.examples?.[0];
    return typeof example === 'string' ? example : name;
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = parameters.find((one) => one.in === 'path' && one.name === name);
    return encodeURIComponent(found === undefined ? name : exampleOf(found));
  });
  const needed = parameters.filter((one) => one.in === 'query' && one.required === true);
  const values = withKey(Object.fromEntries(needed.map((one) => [one.name, exampleOf(one)])), key);
  // A key comes with an agent, which not every operation accepts.
  const isTaken = (name: string): boolean => parameters.some((one) => one.in === 'query' && one.name === name);
  const given = Object.entries(values).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && isTaken(pair[0]),
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? filled : `${filled}?${query}`;
}

/** Where the body proves the caller, no other credential is needed. */
function credentialOf({ security, requestBody }: Endpoint['operation']): ExampleRequest['credential'] {
  const names = new Set(security.flatMap((one) => Object.keys(one)));
  const isProven = requestBody !== undefined && security.some((one) => Object.keys(one).length === 0);
  if (isProven) return 'none';
  return (['ticket', 'service', 'cookie'] as const).find((name) => names.has(name)) ?? 'none';
}

function isObject(example: unknown): example is object {
  return typeof example === 'object' && example !== null;
}

function withKey(example: object, key: ExampleKey | undefined): object {
  if (key === undefined || !('widgetKey' in example)) return example;
  return { ...example, widgetKey: key.widgetKey, agentId: key.agentId };
}
