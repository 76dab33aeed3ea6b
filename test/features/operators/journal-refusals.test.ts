import { Activity } from '../../../src/telemetry/activity.ts';
import { describe, expect, test } from 'vitest';
import { createAddressHash, networkOf, Refusals } from '../../../src/operators/journal/refusals.ts';
import { JournalWriter } from '../../../src/operators/journal/writer.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import type { JournalQuery, NewEntry } from '../../../src/stores/journal/contract.ts';

class Store {
  readonly batches: (readonly NewEntry[])[] = [];
  fault: Error | undefined;

  async append(refusals: readonly NewEntry[]): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.batches.push(refusals);
  }
}

/** @param step milliseconds between refusals */
function write(step = 1000) {
  const store = new Store();
  const dropped: number[] = [];
  const faults: unknown[] = [];
  const writer = new JournalWriter({
    journal: store,
    node: 'one',
    onDropped: () => dropped.push(1),
    onError: (error) => faults.push(error),
  });
  let nowMs = 0;
  const kept: NewEntry<'refusal'>[] = [];
  const refusals = new Refusals({
    writer,
    node: 'one',
    hashOf: createAddressHash(Buffer.from('key')),
    activity: new Activity(),
    // Each refusal has a second of its own, unless a test stops the clock.
    now: () => (nowMs += step),
  });
  refusals.onKept((entry) => kept.push(entry));
  const note = (
    n: number,
    origin?: string,
    refusal = new Refusal('NOT_FOUND', 'There is no /secret@path'),
    address = '203.0.113.7',
  ) => refusals.keep({ requestId: `req_${n}`, atMs: n, route: 'none', address, origin }, refusal);
  return { store, writer, refusals, kept, dropped, faults, note };
}

const everything: JournalQuery<'refusal'> = { kinds: ['refusal'], tenants: '*' };

describe('Refusals', () => {
  test('keeps what is ours of a refusal, and nothing that a caller wrote', async () => {
    const { store, writer, note } = write();
    const why = {
      tenantId: 'acme',
      keyId: 'site',
      subject: 'hash',
      layer: 'quota',
      limit: 5,
      count: 6,
      lever: 'X',
    } as const;
    note(
      1,
      'https://ada@evil.example:8443/path?code=1',
      new Refusal('FORBIDDEN', 'ada@example.com may not', { retryAfter: 3 }, why),
    );
    note(2, 'not an origin of ada@example.com');
    note(3, 'null');
    await writer.flush();
    const kept = store.batches.flat() as NewEntry<'refusal'>[];
    expect(kept[0]).toMatchObject({
      code: 'FORBIDDEN',
      of: { tenantId: 'acme', keyId: 'site', subject: 'hash' },
      detail: {
        status: 403,
        layer: 'quota',
        origin: 'https://evil.example:8443',
        network: '203.0.113.0/24',
        addressHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        limit: 5,
        count: 6,
        lever: 'X',
        retryAfter: 3,
      },
    });
    expect(kept.map(({ detail }) => detail.origin)).toEqual(['https://evil.example:8443', null, null]);
    expect(JSON.stringify(kept)).not.toMatch(/ada|secret|203\.0\.113\.7/);
  });

  test('counts what there is no room for, and a batch that the database will never take', async () => {
    const { store, writer, note, dropped, faults } = write();
    for (let n = 0; n < 5003; n += 1) note(n);
    expect(dropped).toHaveLength(3);
    store.fault = new Error('a defect');
    await writer.flush();
    expect(dropped).toHaveLength(5003);
    expect(faults).toHaveLength(10);
    expect(writer.refusals).toBe(0);
  });

  test('are kept up to 50 a second of each code, whatever the log has room for', () => {
    const { writer, kept, note } = write(1);
    for (let n = 0; n < 70; n += 1) note(n);
    note(70, undefined, new Refusal('FORBIDDEN', 'no'));
    expect(kept.map(({ code }) => code)).toEqual([...Array.from({ length: 50 }, () => 'NOT_FOUND'), 'FORBIDDEN']);
    expect(writer.refusals).toBe(51);
  });

  test('remembers the last 500, whatever becomes of the database', () => {
    const { refusals, note } = write();
    for (let n = 0; n < 600; n += 1) note(n);
    expect(refusals.find('req_99', '*')).toBeUndefined();
    expect(refusals.find('req_100', '*')).toMatchObject({ atMs: 100 });
    expect(refusals.newest(everything, 3).map(({ atMs }) => atMs)).toEqual([599, 598, 597]);
    expect(refusals.newest({ ...everything, beforeMs: 102 }, 3).map(({ atMs }) => atMs)).toEqual([101, 100]);
  });

  test('shows of what it remembers only what is asked for and may be seen', () => {
    const { refusals, note } = write();
    const of = (tenantId: string, keyId: string): Refusal =>
      new Refusal('FORBIDDEN', 'no').because({ tenantId, keyId });
    note(1, undefined, of('acme', 'a'));
    note(2, undefined, of('globex', 'b'), '198.51.100.1');
    note(3);
    const seen = (filter: Partial<JournalQuery<'refusal'>>): number[] =>
      refusals.newest({ ...everything, ...filter }, 10).map(({ atMs }) => atMs);
    expect(seen({})).toEqual([3, 2, 1]);
    expect(seen({ tenants: ['acme'] })).toEqual([1]);
    expect(seen({ tenants: [] })).toEqual([]);
    expect(seen({ code: 'FORBIDDEN' })).toEqual([2, 1]);
    expect(seen({ tenants: ['globex'] })).toEqual([2]);
    expect(seen({ keyId: 'a' })).toEqual([1]);
    expect(seen({ network: '198.51.100.0/24' })).toEqual([2]);
    expect(refusals.find('req_2', ['acme'])).toBeUndefined();
    expect(refusals.find('req_3', ['acme'])).toBeUndefined();
  });
});

describe('An address', () => {
  const networks: [string, string | null][] = [
    ['203.0.113.7', '203.0.113.0/24'],
    ['2001:db8:12:34::1', '2001:db8:12::/48'],
    ['2001:DB8::1', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['', null],
    ['nobody', null],
  ];

  test.each(networks)('%s is of the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('has one hash under a key, and another under another', () => {
    const [one, other] = [createAddressHash(Buffer.from('one')), createAddressHash(Buffer.from('other'))];
    expect(one('203.0.113.7')).toBe(one('203.0.113.7'));
    expect(one('203.0.113.7')).not.toBe(one('203.0.113.8'));
    expect(one('203.0.113.7')).not.toBe(other('203.0.113.7'));
  });
});
