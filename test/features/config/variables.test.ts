import { describe, expect, test } from 'vitest';
import { groups, variables } from '../../../config/variables.ts';

describe('The table of variables', () => {
  test('names each once, with a meaning, an example and what holds without it', () => {
    expect(variables.length).toBeGreaterThan(50);
    expect(new Set(variables.map(({ name }) => name)).size).toBe(variables.length);
    expect(variables.filter(({ meaning, example, unset }) => [meaning, example, unset].includes(''))).toEqual([]);
  });

  test('gives each field of the configuration to one group', () => {
    const fields = Object.values(groups).flatMap((group) => Object.keys(group));
    expect(new Set(fields).size).toBe(fields.length);
  });

  test('has defaults and examples that are valid, but for those that only tell what to put there', () => {
    const isWords = (example: string) => / of: |^unset|PORT/.test(example);
    const wrong = variables.filter(
      ({ schema, example, default: text }) =>
        (text !== undefined && !schema.safeParse(text).success) ||
        (!isWords(example) && !schema.safeParse(example).success),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('names choices that there are, where one decides who needs a variable', () => {
    const choices = variables.flatMap(({ neededBy }) => {
      const [chooser = '', choices = ''] = neededBy?.split('=') ?? [];
      return neededBy === undefined ? [] : choices.split('|').map((choice) => [chooser, choice]);
    });
    const isThere = ([chooser, choice]: readonly string[]): boolean =>
      variables.some(({ name, schema }) => name === chooser && schema.safeParse(choice).success);
    expect(choices.length).toBeGreaterThan(0);
    expect(choices.filter((choice) => !isThere(choice))).toEqual([]);
  });

  test('hides all of whatever is named like a secret', () => {
    const telling = variables.filter(({ name }) => /KEY|SECRET|TOKENS?$/.test(name) && !name.includes('MAX_'));
    expect(telling.filter(({ secret }) => secret !== 'all').map(({ name }) => name)).toEqual([
      'CLIENT_SECRET_TTL_SEC',
      'BOT_SITE_KEY',
    ]);
  });
});
