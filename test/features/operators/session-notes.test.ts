import { describe, expect, test } from 'vitest';
import { refOf } from '../../../src/kernel/ids.ts';
import { SessionNotes } from '../../../src/operators/journal/events.ts';
import type { NewEntry, SessionNote } from '../../../src/stores/journal/contract.ts';
import { voiceRecord } from '../../contracts/support.ts';

const MINUTE = 60_000;

function take() {
  const written: NewEntry<'note'>[] = [];
  const world = { nowMs: 0, leftOut: 0 };
  const notes = new SessionNotes({
    node: 'node-1',
    now: () => world.nowMs,
    write: (event) => written.push(event),
    onLeftOut: () => (world.leftOut += 1),
  });
  const { id } = voiceRecord();
  const note = (kind: SessionNote['kind'], detail: SessionNote['detail'] = {}, sessionId = id): void =>
    notes.take({ sessionId, tenantId: 'acme', atMs: world.nowMs, kind, detail });
  const use = (tokens: number, microDollars: number, sessionId = id): void =>
    note('usage', { tokens, microDollars }, sessionId);
  return { notes, world, written, id, note, use };
}

describe('The notes of sessions', () => {
  test('name a session by its ref, and are no events of its machine', () => {
    const { world, written, id, note } = take();
    world.nowMs = 7;
    note('detached', { code: 1006 });
    expect(written).toEqual([
      {
        id: expect.any(String) as string,
        kind: 'note',
        atMs: 7,
        node: 'node-1',
        requestId: null,
        of: { machine: 'voice-session', target: refOf(id) },
        code: 'detached',
        detail: { code: 1006 },
      },
    ]);
  });

  test('tell usage once a minute, as the sum of what was used since', () => {
    const { notes, world, written, use } = take();
    for (let second = 0; second < 150; second += 1) {
      world.nowMs = second * 1000;
      use(10, 100_000);
      notes.tick();
    }
    expect(written.map(({ code, detail, atMs }) => ({ code, detail, atMs }))).toEqual([
      { code: 'usage', detail: { tokens: 610, dollars: 6.1 }, atMs: MINUTE },
      { code: 'usage', detail: { tokens: 610, dollars: 6.1 }, atMs: 121_000 },
    ]);
    notes.finish();
    notes.finish();
    expect(written.slice(2).map(({ detail }) => detail)).toEqual([{ tokens: 280, dollars: 2.8 }]);
  });

  test('tell what a session used when it ends, and of no other', () => {
    const { notes, world, written, id, use } = take();
    const other = voiceRecord().id;
    use(1, 500_000);
    use(2, 500_000, other);
    world.nowMs = 9;
    notes.ended(id, 7);
    // An end may be dated back; the note of its usage must not come after it.
    expect(written).toMatchObject([{ atMs: 7, of: { target: refOf(id) }, detail: { tokens: 1, dollars: 0.5 } }]);
    notes.tick();
    expect(written).toHaveLength(1);
  });

  test('are 200 of one session at most, until it has ended; the others are counted', () => {
    const { notes, world, written, id, note } = take();
    for (let n = 0; n < 205; n += 1) note('attached');
    note('attached', {}, voiceRecord().id);
    expect([written.length, world.leftOut]).toEqual([201, 5]);
    notes.ended(id, world.nowMs);
    note('detached', { code: 4403 });
    expect([written.length, world.leftOut]).toEqual([202, 5]);
  });

  test('gather the usage of 20,000 sessions, and tell that of the oldest where there are more', () => {
    const { written, use } = take();
    const idOf = (n: number): string => `s:${'0'.repeat(32)}:${String(n).padStart(22, '0')}`;
    for (let n = 0; n < 20_000; n += 1) use(1, 0, idOf(n));
    expect(written).toEqual([]);
    use(1, 0, idOf(20_000));
    expect(written.map(({ of }) => of.target)).toEqual([refOf(idOf(0))]);
  });
});
