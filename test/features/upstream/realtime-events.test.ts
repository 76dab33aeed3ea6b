import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { eventsOf } from '../../../src/upstream/realtime-events.ts';
import { conversationEvents } from '../../../src/upstream/realtime-conversation.ts';

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

/** The rows of the table in docs/providers.md: the names of events, and what is done with them. */
function documented(): readonly { readonly names: readonly string[]; readonly what: string }[] {
  const [, table = ''] =
    /<!-- realtime events -->([^]*)<!-- \/realtime events -->/.exec(read('docs/providers.md')) ?? [];
  return table.split('\n').map((row) => {
    const [, names = '', what = ''] = row.split('|');
    return { names: (names.match(/`[\w.]+`/g) ?? []).map((name) => name.slice(1, -1)), what: what.trim() };
  });
}

/** An event with all fields from which we read anything, but for the kinds of items and responses. */
const told = {
  item_id: 'item_1',
  response_id: 'resp_1',
  content_index: 0,
  delta: 'Good',
  transcript: 'Good morning.',
  text: 'Good morning.',
  item: { id: 'item_1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] },
  response: { id: 'resp_1', status: 'failed', output: [] },
  audio_end_ms: 900,
  rate_limits: [{ name: 'requests', remaining: 1 }],
};

/** Events of the session rather than of its conversation, which the sideband itself reads. */
const SIDEBANDS: ReadonlySet<string> = new Set(['session.updated', 'input_audio_buffer.committed', 'error']);

test('The table says "nothing" of those events alone from which nothing is read, and names captions where they are made', () => {
  for (const { names, what } of documented()) {
    for (const type of names.filter((name) => !SIDEBANDS.has(name))) {
      const words = conversationEvents({ ...told, type });
      const isRead = words.length > 0 || eventsOf({ ...told, type }, undefined, 1000).length > 0;
      expect([type, !what.startsWith('nothing')]).toEqual([type, isRead]);
      expect([type, what.includes('caption')]).toEqual([type, words.some((event) => event.type === 'transcript')]);
    }
  }
});

test('Every event that the realtime API may tell is in the table that says what is done with it, once', () => {
  const listed = documented().flatMap(({ names }) => names);
  expect(listed.length).toBeGreaterThan(40);
  expect(listed.toSorted()).toEqual(publishedEvents().toSorted());
});
