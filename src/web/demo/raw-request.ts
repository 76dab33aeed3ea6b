/** A request that somebody has written by hand, ready for `fetch`. */
export interface RawRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Undefined if there is none: a `GET` must not have one. */
  readonly body: string | undefined;
}

/**
 * Parses a request in the form of HTTP: method and path, one line for each header, an empty line, the body.
 * @throws Error with a message for the person who wrote it
 */
export function readRawRequest(text: string): RawRequest {
  const [head = '', ...rest] = text.replaceAll('\r\n', '\n').trimStart().split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [, method, path] = /^(\S+) +(\/\S*)(?: +HTTP\/\S+)? *$/.exec(first) ?? [];
  if (method === undefined || path === undefined)
    throw new Error('The first line has a method and a path of this server: POST /api/session');
  const headers = lines.filter((line) => line.trim() !== '').map(readHeader);
  const body = rest.join('\n\n');
  return { path, method: method.toUpperCase(), headers, body: body === '' ? undefined : body };
}

function readHeader(line: string): readonly [string, string] {
  const [, name, value] = /^([^:\s]+) *: *(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`A header is a name, a colon and a value: ${line}`);
  return [name, value];
}
