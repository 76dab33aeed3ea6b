import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

/** The events in the provider's own types, which come with its SDK. */
function publishedEvents(): readonly string[] {
  const types = read('node_modules/openai/resources/realtime/realtime.d.ts');
  const [, union = ''] = /export type RealtimeServerEvent = ([^;]+);/.exec(types) ?? [];
  return union.split('|').map((name) => {
    const [, declared = ''] = types.split(`interface ${name.trim().split('.').at(-1)} {`);
    return /^ +type: '([\w.]+)';/m.exec(declared)?.[1] ?? `${name} has no type`;
  });
}

test('Every event that the realtime API may tell is in the table that says what is done with it, once', () => {
  const [, table = ''] =
    /<!-- realtime events -->([^]*)<!-- \/realtime events -->/.exec(read('docs/providers.md')) ?? [];
  const rows = table.split('\n').flatMap((row) => row.split('|')[1]?.match(/`[\w.]+`/g) ?? []);
  const listed = rows.map((name) => name.slice(1, -1));
  expect(listed.length).toBeGreaterThan(40);
  expect(listed.toSorted()).toEqual(publishedEvents().toSorted());
});
