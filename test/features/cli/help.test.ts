import { expect, test } from 'vitest';
import { variables } from '../../../config/variables.ts';
import { run } from '../../../src/cli/help.ts';
import { fakeTerminal } from './terminal.ts';

test('The help teaches commands, every variable with its default, and what production needs', async () => {
  const terminal = fakeTerminal();
  expect(await run([], terminal)).toBe(0);
  const text = terminal.printed();
  for (const word of [
    'serve',
    'check-config',
    'migrate',
    'tenants add',
    'keys issue',
    'keys list',
    'keys pause',
    'print-openapi',
  ])
    expect(text).toContain(word);
  for (const { name, production } of variables)
    expect(text).toMatch(new RegExp(`^${production ? '\\* ' : '  '}${name} .*\\n +default: .`, 'm'));
  const columns = variables.map(({ name, meaning }) =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `, 2))
      ?.indexOf(meaning),
  );
  expect(new Set(columns).size).toBe(1);
  expect(text).toContain('  JWT_SECRET=the output of: openssl rand -base64 48');
});
