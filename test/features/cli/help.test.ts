import { expect, test } from 'vitest';
import { variables, type VariableName } from '../../../config/env.ts';
import { run, variableGroups } from '../../../src/cli/help.ts';
import { fakeTerminal } from './terminal.ts';

test('Every variable is in one group of the help, and has a meaning and an example', () => {
  const grouped = Object.values(variableGroups).flat();
  expect(grouped.toSorted()).toEqual(Object.keys(variables).sort());
  expect(grouped.filter((name) => variables[name].meaning === '' || variables[name].example === '')).toEqual([]);
});

test('The example of every variable that is not a placeholder is valid', () => {
  const isWords = (example: string) => / of: |^unset|PORT/.test(example);
  const wrong = Object.entries(variables)
    .filter(([, { schema, example }]) => !isWords(example) && !schema.safeParse(example).success)
    .map(([name]) => name);
  expect(wrong).toEqual([]);
});

test('The help teaches commands, every variable with its default, and what production needs', async () => {
  const terminal = fakeTerminal();
  expect(await run([], terminal)).toBe(0);
  const text = terminal.printed();
  for (const word of ['serve', 'check-config', 'migrate', 'keys issue', 'keys list', 'keys revoke', 'print-openapi'])
    expect(text).toContain(word);
  for (const name of Object.keys(variables) as VariableName[]) {
    const mark = variables[name].requiredInProduction ? '\\* ' : '  ';
    expect(text).toMatch(new RegExp(`^${mark}${name} .*\\n +default: .`, 'm'));
  }
  expect(text).toContain('  JWT_SECRET=the output of: openssl rand -base64 48');
});
