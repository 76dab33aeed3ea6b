import type { z } from 'zod';

/**
 * Says in words what is wrong with each field of a value that its schema refused, also where the schema has no words of its own.
 * It parses once more, because zod takes words in its slow way only: what is right is parsed in the quick one.
 */
export function issuesInWords(schema: z.ZodType, value: unknown): readonly z.core.$ZodIssue[] {
  return schema.safeParse(value, { error: wordsOf }).error?.issues ?? [];
}

const articles: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is missing' : `must be ${articles[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small') return bound('at least', issue.minimum, issue.origin);
  return issue.code === 'too_big' ? bound('at most', issue.maximum, issue.origin) : undefined;
}

function bound(how: string, limit: number | bigint, origin: string): string {
  const unit = units[origin];
  return unit === undefined ? `must be ${how} ${limit}` : `must have ${how} ${limit}${unit}`;
}
