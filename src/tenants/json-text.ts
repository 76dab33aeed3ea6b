/** Text that is not JSON: the message tells where and what is expected there. Line and column count from 1. */
export class JsonTextError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(text: string, position: number, expected: string) {
    const before = text.slice(0, position).split('\n');
    const line = before.length;
    const column = (before.at(-1) ?? '').length + 1;
    const found = position >= text.length ? 'the file ends' : `there is ${JSON.stringify(text[position])}`;
    super(`line ${line}, column ${column}: ${expected} is expected, but ${found}`);
    this.name = 'JsonTextError';
    this.line = line;
    this.column = column;
  }
}

/**
 * Parses JSON as a person wrote it: a byte order mark is skipped.
 * @throws JsonTextError with line and column, which JSON.parse tells in some Node versions and for some mistakes only
 */
export function parseJsonText(text: string): unknown {
  const body = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(body);
  } catch {
    throw locate(body);
  }
}

type Want = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma' | 'end';

const token =
  /[{}[\],:]|"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

/** Walks the tokens of a text that JSON.parse refused, up to the first that does not fit. */
function locate(text: string): JsonTextError {
  const open: ('{' | '[')[] = [];
  let want: Want = 'value';
  let position = 0;
  for (;;) {
    while (/[ \t\n\r]/.test(text[position] ?? '')) position += 1;
    token.lastIndex = position;
    const found = token.exec(text)?.[0];
    const next: Want | undefined = found === undefined ? undefined : step(found, want, open);
    if (found === undefined || next === undefined) return new JsonTextError(text, position, descriptions[want]);
    want = next;
    position += found.length;
  }
}

/** What may follow the token, or undefined when the token is not what is wanted. */
function step(found: string, want: Want, open: ('{' | '[')[]): Want | undefined {
  const afterValue = (): Want => (open.length === 0 ? 'end' : 'comma');
  switch (found) {
    case '{':
    case '[':
      if (want !== 'value' && want !== 'value or ]') return undefined;
      open.push(found);
      return found === '{' ? 'name or }' : 'value or ]';
    case '}':
    case ']': {
      const fits = found === '}' ? want === 'name or }' : want === 'value or ]';
      if (!fits && !(want === 'comma' && open.at(-1) === (found === '}' ? '{' : '['))) return undefined;
      open.pop();
      return afterValue();
    }
    case ',':
      if (want !== 'comma') return undefined;
      return open.at(-1) === '{' ? 'name' : 'value';
    case ':':
      return want === 'colon' ? 'value' : undefined;
    default:
      if (want === 'value' || want === 'value or ]') return afterValue();
      return found.startsWith('"') && want.startsWith('name') ? 'colon' : undefined;
  }
}

const descriptions: Record<Want, string> = {
  value: 'a value (no comma after the last one)',
  'value or ]': 'a value or ]',
  name: 'a field name in double quotes (no comma after the last field)',
  'name or }': 'a field name in double quotes or }',
  colon: 'a colon',
  comma: 'a comma or the closing bracket',
  end: 'nothing more',
};
