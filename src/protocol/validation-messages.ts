import { z } from 'zod';

/** What is wrong with one field. */
export interface IssueInWords {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** For an unknown field that resembles no known one: the known ones. */
  readonly known?: readonly string[];
}

/**
 * Describes what is wrong with each field of a value that its schema refused, even where the schema has no message of its own.
 * It parses the value a second time: zod takes custom messages only in its slow mode, and valid values should be parsed in the fast one.
 */
export function issuesInWords(schema: z.ZodType, value: unknown): readonly IssueInWords[] {
  const issues = schema.safeParse(value, { error: issueWords }).error?.issues ?? [];
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [issue];
    const known = fieldsAt(schema, issue.path);
    return issue.keys.map((key) => ({ path: [...issue.path, key], ...unknownField(key, known) }));
  });
}

/** The message for an unknown field, with the known one that was probably meant. */
function unknownField(name: string, known: readonly string[]): Pick<IssueInWords, 'message' | 'known'> {
  const message = 'is not a known field';
  const meant = nearest(name, known);
  return meant === undefined ? { message, known } : { message: `${message}; did you mean ${meant}?` };
}

/** The names of the fields that a schema has at a path; empty if there is no single object there. */
function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [part, ...rest] = path;
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, rest);
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Readonly<Record<PropertyKey, z.core.$ZodType>>;
    if (part === undefined) return Object.keys(shape);
    return shape[part] === undefined ? [] : fieldsAt(shape[part], rest);
  }
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return wraps ? fieldsAt(schema.unwrap(), path) : [];
}

const articles: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const units: Readonly<Record<string, readonly [one: string, several: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

function issueWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is missing' : `must be ${articles[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small') return bound('at least', issue.minimum, issue.origin);
  return issue.code === 'too_big' ? bound('at most', issue.maximum, issue.origin) : undefined;
}

function bound(how: string, limit: number | bigint, origin: string): string {
  const unit = units[origin];
  return unit === undefined
    ? `must be ${how} ${limit}`
    : `must have ${how} ${limit} ${unit[Number(limit) === 1 ? 0 : 1]}`;
}

/** The most wrong letters with which a name still counts as close. */
const MAX_WRONG = 3;

/** The known name closest to a misspelt one, ignoring case; undefined if none is close. */
export function nearest(misspelt: string, known: readonly string[]): string | undefined {
  const asked = misspelt.toLowerCase();
  const most = Math.min(MAX_WRONG, Math.floor(asked.length / 2));
  const close = known
    .filter((name) => Math.abs(name.length - asked.length) <= most)
    .map((name) => ({ name, wrong: editsBetween(asked, name.toLowerCase()) }))
    .filter(({ wrong }) => wrong <= most);
  return close.toSorted((one, other) => one.wrong - other.wrong)[0]?.name;
}

/** How many letters must be added, removed or replaced (Levenshtein distance). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] as number) + (letter === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] as number) + 1, (next[column] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
