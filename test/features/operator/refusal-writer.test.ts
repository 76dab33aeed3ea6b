import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { createAddressHash, networkOf } from '../../../src/operator/address.ts';
import { RefusalWriter } from '../../../src/operator/refusal-writer.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import type { KeptRefusal, RefusalFilter } from '../../../src/stores/refusals/contract.ts';

class Kept {
  readonly batches: (readonly KeptRefusal[])[] = [];
  fault: Error | undefined;

  async append(refusals: readonly KeptRefusal[]): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.batches.push(refusals);
  }
}

function write() {
  const store = new Kept();
  const dropped: number[] = [];
  const faults: unknown[] = [];
  const writer = new RefusalWriter({
    store,
    node: 'one',
    hashOf: createAddressHash(Buffer.from('key')),
    onDropped: () => dropped.push(1),
    onError: (error) => faults.push(error),
  });
  const note = (
    n: number,
    origin?: string,
    refusal = new Refusal('NOT_FOUND', 'There is no /secret@path'),
    address = '203.0.113.7',
  ) => writer.note({ requestId: `req_${n}`, atMs: n, route: 'none', address, origin }, refusal);
  return { store, writer, dropped, faults, note };
}

const everything: RefusalFilter = { fromMs: 0, toMs: Infinity, tenants: '*' };

describe('The writer of refusals', () => {
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
    const kept = store.batches.flat();
    expect(kept[0]).toMatchObject({
      code: 'FORBIDDEN',
      status: 403,
      layer: 'quota',
      tenantId: 'acme',
      keyId: 'site',
      subject: 'hash',
      origin: 'https://evil.example:8443',
      network: '203.0.113.0/24',
      addressHash: expect.stringMatching(/^[0-9a-f]{16}$/),
      detail: { limit: 5, count: 6, lever: 'X', retryAfter: 3 },
    });
    expect(kept.map(({ origin }) => origin)).toEqual(['https://evil.example:8443', null, null]);
    expect(JSON.stringify(kept)).not.toMatch(/ada|secret|203\.0\.113\.7/);
  });

  test('writes in batches of 500, keeps what waits while the database is away, and writes it once', async () => {
    const { store, writer, note } = write();
    for (let n = 0; n < 1100; n += 1) note(n);
    store.fault = new Unavailable('database', 'away');
    await expect(writer.flush()).rejects.toThrow(Unavailable);
    expect(writer.size).toBe(1100);
    store.fault = undefined;
    await Promise.all([writer.flush(), writer.flush()]);
    expect(store.batches.map((batch) => batch.length)).toEqual([500, 500, 100]);
    expect(writer.size).toBe(0);
  });

  test('counts what there is no room for, and a batch that the database will never take', async () => {
    const { store, writer, note, dropped, faults } = write();
    for (let n = 0; n < 5003; n += 1) note(n);
    expect(dropped).toHaveLength(3);
    store.fault = new Error('a defect');
    await writer.flush();
    expect(dropped).toHaveLength(5003);
    expect(faults).toHaveLength(10);
    expect(writer.size).toBe(0);
  });

  test('remembers the last 500, whatever becomes of the database', () => {
    const { writer, note } = write();
    for (let n = 0; n < 600; n += 1) note(n);
    expect(writer.find('req_99', '*')).toBeUndefined();
    expect(writer.find('req_100', '*')).toMatchObject({ atMs: 100 });
    expect(writer.remembered(everything, 3).map(({ atMs }) => atMs)).toEqual([599, 598, 597]);
    expect(writer.remembered({ ...everything, toMs: 101 }, 3).map(({ atMs }) => atMs)).toEqual([101, 100]);
  });

  test('shows of what it remembers only what is asked for and may be seen', () => {
    const { writer, note } = write();
    const of = (tenantId: string, keyId: string): Refusal =>
      new Refusal('FORBIDDEN', 'no').because({ tenantId, keyId });
    note(1, undefined, of('acme', 'a'));
    note(2, undefined, of('globex', 'b'), '198.51.100.1');
    note(3);
    const seen = (filter: Partial<RefusalFilter>): number[] =>
      writer.remembered({ ...everything, ...filter }, 10).map(({ atMs }) => atMs);
    expect(seen({})).toEqual([3, 2, 1]);
    expect(seen({ tenants: ['acme'] })).toEqual([1]);
    expect(seen({ tenants: [] })).toEqual([]);
    expect(seen({ code: 'FORBIDDEN' })).toEqual([2, 1]);
    expect(seen({ tenants: ['globex'] })).toEqual([2]);
    expect(seen({ keyId: 'a' })).toEqual([1]);
    expect(seen({ network: '198.51.100.0/24' })).toEqual([2]);
    expect(writer.find('req_2', ['acme'])).toBeUndefined();
    expect(writer.find('req_3', ['acme'])).toBeUndefined();
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
