import { createHmac, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSubjects } from '../../../src/auth/subjects.ts';
import { examples } from '../../support/examples.ts';

const key = Buffer.alloc(32, 7);
const subjects = createSubjects(key);

function hash(name: string): string {
  return createHmac('sha256', key).update(name).digest('hex').slice(0, 32);
}

describe('A subject', () => {
  test('is 32 hex digits of HMAC-SHA256 over its name', () => {
    expect(subjects.console('ada@example.com')).toBe(hash('console:ada@example.com'));
    expect(subjects.widgetUser('acme', 'ada@example.com')).toBe(hash('widget:acme:ada@example.com'));
    expect(subjects.widgetKey('acme', 'acme-site')).toBe(hash('widget:acme:acme-site'));
  });

  test('is another under another installation key', () => {
    expect(createSubjects(randomBytes(32)).console('ada@example.com')).not.toBe(subjects.console('ada@example.com'));
  });

  test('is the same every time, even after it was forgotten', () => {
    const first = subjects.console('ada@example.com');
    for (let n = 0; n < 50_000; n += 1) subjects.console(`user${n}@example.com`);
    expect(subjects.console('ada@example.com')).toBe(first);
  });

  test("of a key whose id looks like an address is not that address's", () => {
    const user = subjects.widgetUser('acme', 'ada@example.com');
    expect(subjects.widgetKey('acme', 'ada@example.com')).not.toBe(user);
    expect(subjects.widgetKey('acme', 'ada%40example.com')).not.toBe(subjects.widgetKey('acme', 'ada@example.com'));
  });

  test('of a tenant never collides with those of another', () => {
    expect(subjects.widgetKey('a', 'b:c')).not.toBe(subjects.widgetKey('a:b', 'c'));
    expect(subjects.widgetUser('a:b', 'c@d.example')).not.toBe(subjects.widgetUser('a', 'b:c@d.example'));
  });

  test('belongs to one caller only, whatever characters ids contain', () => {
    const id = fc.string({ unit: fc.constantFrom('a', 'b', ':', '@', '%', '4', '0', '3'), maxLength: 6 });
    const email = fc.constantFrom('a@b', 'b@a', 'a%40@b', '4@0', '%3a@a');
    const caller = fc.oneof(
      fc.record({ kind: fc.constant('user'), tenant: id, name: email }),
      fc.record({ kind: fc.constant('key'), tenant: id, name: id }),
    );
    const subjectOf = ({ kind, tenant, name }: { kind: string; tenant: string; name: string }) =>
      kind === 'user' ? subjects.widgetUser(tenant, name) : subjects.widgetKey(tenant, name);
    const holds = fc.property(caller, caller, (a, b) => {
      const isSame = a.kind === b.kind && a.tenant === b.tenant && a.name === b.name;
      expect(subjectOf(a) === subjectOf(b)).toBe(isSame);
    });
    fc.assert(holds, examples(3_000));
  });

  test('equals only itself', () => {
    const a = subjects.console('ada@example.com');
    expect(subjects.equal(a, createSubjects(key).console('ada@example.com'))).toBe(true);
    expect(subjects.equal(a, subjects.console('bob@example.com'))).toBe(false);
    expect(subjects.equal(a, '')).toBe(false);
    expect(subjects.equal('', a)).toBe(false);
    expect(subjects.equal(a, a + a)).toBe(false);
  });
});
