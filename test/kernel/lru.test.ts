import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Lru } from '../../src/kernel/collections.ts';
import { examples } from '../support/examples.ts';

describe('A memory of what was used lately', () => {
  test('keeps half of its capacity, in whatever order that is used', () => {
    const memory = new Lru<string>(100);
    const names = Array.from({ length: 50 }, (_, n) => String(n));
    const found = Array.from({ length: 3 }, () =>
      names.map((name) => {
        const present = memory.get(name);
        memory.set(name, 'value');
        return present;
      }),
    );
    expect(found[0]).not.toContain('value');
    expect(found.slice(1).flat()).not.toContain(undefined);
  });

  test('never has more than its capacity', () => {
    const memory = new Lru<string>(100);
    for (let n = 0; n < 1000; n += 1) memory.set(String(n), 'value');
    expect(memory.size).toBeLessThanOrEqual(100);
    expect(memory.get('999')).toBe('value');
    expect(memory.get('0')).toBeUndefined();
  });

  test('with a period, drops what was not used for two of them, even if there is room, and keeps the rest', () => {
    let nowMs = 0;
    const memory = new Lru<string>(100, { ms: 1000, now: () => nowMs });
    memory.set('forgotten', 'value');
    memory.set('read', 'value');
    memory.set('written', 'value');
    for (let n = 0; n < 2; n += 1) {
      nowMs += 1000;
      memory.set('written', 'value');
      expect(memory.get('read')).toBe('value');
    }
    expect(memory.get('forgotten')).toBeUndefined();
    expect(memory.size).toBe(2);
  });

  test('has each value once', () => {
    let nowMs = 0;
    const memory = new Lru<string>(100, { ms: 1000, now: () => nowMs });
    for (let n = 0; n < 5; n += 1) {
      memory.set('one', 'value');
      expect(memory.size).toBe(1);
      nowMs += 1000;
    }
    memory.delete('one');
    expect(memory.size).toBe(0);
  });

  test('never returns what was deleted or replaced', () => {
    const step = fc.tuple(
      fc.constantFrom('set', 'get', 'delete'),
      fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      fc.nat(),
    );
    const holds = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const memory = new Lru<string>(4);
      const truth = new Map<string, string>();
      for (const [what, key, n] of steps) {
        for (const each of [memory, truth]) {
          if (what === 'set') each.set(key, `${n}`);
          if (what === 'delete') each.delete(key);
        }
        expect([undefined, truth.get(key)]).toContain(memory.get(key));
      }
    });
    fc.assert(holds, examples(200));
  });
});
