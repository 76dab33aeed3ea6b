import { expect, test } from 'vitest';
import { tellFault } from '../../../src/cli/tell-fault.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';

function told(cause: Error): string {
  let text = '';
  expect(tellFault(new Unavailable('database', cause), { write: (more: string) => void (text += more) })).toBe(69);
  return text;
}

const coded = (code: string): Error => Object.assign(new Error(`fault ${code}`), { code });

test.each([
  ['ECONNREFUSED', 'is DATABASE_URL right?'],
  ['CONNECT_TIMEOUT', 'is DATABASE_URL right?'],
  ['NO_ANSWER', 'is DATABASE_URL right?'],
  ['28P01', 'Are user and password in DATABASE_URL right'],
  ['3D000', 'Is the name of the database in DATABASE_URL right?'],
])('A database that %s keeps from being reached may have another address', (code, hint) => {
  expect(told(coded(code))).toContain(hint);
});

test.each([
  ['TOO_SLOW', 'slow, busy or locked'],
  ['57014', 'slow, busy or locked'],
  ['40P01', 'slow, busy or locked'],
  ['25006', 'accepts no writes'],
  ['53100', 'Its disk is full'],
  ['53300', 'max_connections'],
  ['57P03', 'starting, stopping or recovering'],
  ['42501', 'Grant its role'],
])('A database that was reached and says %s is told of by its cause, not by its address', (code, hint) => {
  const text = told(coded(code));
  expect(text).toContain(`fault ${code}`);
  expect(text).toContain(hint);
  expect(text).not.toContain('DATABASE_URL');
});
