import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { requireSealer } from '../../../src/app/core.ts';
import { run } from '../../../src/cli/secrets.ts';
import { createSealer, SealBroken, type Sealer } from '../../../src/kernel/seal.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import {
  deleteSecret,
  listSecrets,
  readSecret,
  rotateSigningSecret,
  setSecret,
  signingSecrets,
  type SecretsDeps,
} from '../../../src/tenant-secrets/secrets.ts';
import { createPostgresTenantSecrets } from '../../../src/stores/tenant-secrets/postgres.ts';
import { ManualClock } from '../../support/clock.ts';
import { TestDatabase } from '../../support/test-database.ts';
import { fakeTerminal } from '../cli/terminal.ts';
import { FakeActs } from '../tenants/fakes.ts';

const VALUE = 'Bearer value-that-nobody-reads';
const by = { actor: 'ops@example.com', role: 'operator', reason: 'new CRM' } as const;

let database: TestDatabase;
let acts: FakeActs;
let deps: SecretsDeps;

function sealerOf(...masters: [Buffer, ...Buffer[]]): Sealer {
  return createSealer(masters, 'test');
}

beforeEach(async () => {
  database = await TestDatabase.open();
  acts = new FakeActs();
  const secrets = createPostgresTenantSecrets(database);
  deps = { secrets, acts, clock: new ManualClock(), sealer: sealerOf(randomBytes(32)) };
});

/** Everything that the database holds about secrets, as in a dump. */
async function dumped(): Promise<string> {
  const rows = await database.run((sql) => sql`select *, encode(sealed, 'escape') as bytes from tenant_secret`);
  return JSON.stringify(rows);
}

describe('A seal', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];

  test('opens for its place alone, and not once a byte of it was changed', () => {
    const sealer = sealerOf(newer);
    const sealed = sealer.seal(VALUE, 'acme/crm/1');
    expect(sealer.open(sealed, 'acme/crm/1')).toBe(VALUE);
    for (const place of ['acme/crm/2', 'other/crm/1', '']) expect(() => sealer.open(sealed, place)).toThrow(SealBroken);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => sealer.open(changed, 'acme/crm/1')).toThrow(SealBroken);
    }
    for (const length of [0, 1, 12, 28]) expect(() => sealer.open(sealed.subarray(0, length), 'x')).toThrow(SealBroken);
  });

  test('opens by a former key for as long as that is in the list, and for one purpose alone', () => {
    const sealed = sealerOf(older).seal(VALUE, 'x');
    expect(sealerOf(newer, older).open(sealed, 'x')).toBe(VALUE);
    expect(() => sealerOf(newer).open(sealed, 'x')).toThrow(SealBroken);
    expect(() => createSealer([older], 'other').open(sealed, 'x')).toThrow(SealBroken);
  });

  test('of the same text is another each time', () => {
    const sealer = sealerOf(newer);
    const seals = new Set(Array.from({ length: 100 }, () => sealer.seal(VALUE, 'x').toString('hex')));
    expect(seals.size).toBe(100);
  });
});

describe('A secret of a tenant', () => {
  test('is read as it was set, the newest version of it, and is in no listing, row or act', async () => {
    await setSecret({ tenantId: 'acme', name: 'crm', value: 'before' }, by, deps);
    const kept = await setSecret({ tenantId: 'acme', name: 'crm', value: VALUE }, by, deps);
    expect(kept).toEqual({
      tenantId: 'acme',
      name: 'crm',
      version: 2,
      createdAtMs: deps.clock.now(),
      createdBy: by.actor,
    });
    expect(await readSecret('acme', 'crm', deps)).toBe(VALUE);
    expect(await readSecret('other', 'crm', deps)).toBeUndefined();
    expect(await listSecrets(deps)).toEqual([kept]);
    expect(acts.rows).toMatchObject([
      { action: 'secret.set', target: 'acme/crm', tenantId: 'acme', reason: 'new CRM', result: 'done' },
      { action: 'secret.set', result: 'done' },
    ]);
    const all = JSON.stringify([kept, await listSecrets(deps), acts.rows]) + (await dumped());
    expect(all).not.toContain('nobody-reads');
  });

  test('of two that are set at once both are kept, one after the other', async () => {
    const set = (value: string) => setSecret({ tenantId: 'acme', name: 'crm', value }, by, deps);
    const kept = await Promise.all(['a', 'b', 'c'].map(set));
    expect(kept.map((one) => (one instanceof Refusal ? one.code : `v${one.version}`)).toSorted()).toEqual([
      'v1',
      'v2',
      'v3',
    ]);
  });

  test('does not open where its row was copied to another tenant', async () => {
    await setSecret({ tenantId: 'acme', name: 'crm', value: VALUE }, by, deps);
    await database.run((sql) => sql`update tenant_secret set tenant_id = 'thief'`);
    await expect(readSecret('thief', 'crm', deps)).rejects.toThrow(SealBroken);
  });

  test.each(['', 'a b', 'a/b', ':tools', 'x'.repeat(65), '../x'])('is not named "%s"', async (name) => {
    expect(await setSecret({ tenantId: 'acme', name, value: VALUE }, by, deps)).toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(acts.rows).toEqual([]);
  });

  test.each(['', ' x', 'x ', 'two\r\nx-header: 1', 'ü', '\u0000', 'x'.repeat(1025)])(
    'is not what a header cannot hold: %j',
    async (value) => {
      const refusal = await setSecret({ tenantId: 'acme', name: 'crm', value }, by, deps);
      expect(refusal).toMatchObject({ code: 'INVALID_REQUEST' });
      expect(await listSecrets(deps)).toEqual([]);
    },
  );

  test('is not kept where nothing seals it', async () => {
    const refusal = await setSecret({ tenantId: 'acme', name: 'crm', value: VALUE }, by, {
      ...deps,
      sealer: undefined,
    });
    expect(refusal).toMatchObject({ code: 'CONFLICT', error: expect.stringContaining('SEALING_KEY') as unknown });
    expect(acts.rows).toMatchObject([{ action: 'secret.set', result: 'unchanged' }]);
    expect(await listSecrets(deps)).toEqual([]);
  });

  test('is gone once it is deleted', async () => {
    await setSecret({ tenantId: 'acme', name: 'crm', value: VALUE }, by, deps);
    expect(await deleteSecret('acme', 'crm', by, deps)).toBe(true);
    expect(await readSecret('acme', 'crm', deps)).toBeUndefined();
    expect(await deleteSecret('acme', 'crm', by, deps)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('The secret by which requests to tools are signed', () => {
  test('is made once, by whoever needs it first, and is in no listing', async () => {
    const all = await Promise.all([1, 2, 3].map(() => signingSecrets('acme', deps)));
    expect(new Set(all.flat()).size).toBe(1);
    expect(all[0]).toEqual([expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
    expect(await listSecrets(deps)).toEqual([]);
    expect(await signingSecrets('other', deps)).not.toEqual(all[0]);
  });

  test('that is new comes first, and the former one goes on to sign', async () => {
    const [first] = await signingSecrets('acme', deps);
    const second = await rotateSigningSecret('acme', by, deps);
    expect(await signingSecrets('acme', deps)).toEqual([second, first]);
    const third = await rotateSigningSecret('acme', by, deps);
    expect(await signingSecrets('acme', deps)).toEqual([third, second]);
    expect(acts.rows).toMatchObject([
      { action: 'secret.signing', target: 'acme/:tools' },
      { action: 'secret.signing' },
    ]);
    expect(JSON.stringify(acts.rows)).not.toContain('whsec_');
  });

  test('cannot be read, set or deleted as one of the others', async () => {
    await signingSecrets('acme', deps);
    expect(await readSecret('acme', ':tools', deps)).toBeUndefined();
    expect(await deleteSecret('acme', ':tools', by, deps)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('The commands', () => {
  async function command(args: string[], input = ''): Promise<{ code: number; out: string; err: string }> {
    const terminal = fakeTerminal();
    const stores = { ...deps, close: () => Promise.resolve() };
    const code = await run(args, {
      ...terminal,
      openStores: () => Promise.resolve(stores),
      readInput: () => Promise.resolve(input),
    });
    return { code, out: terminal.printed(), err: terminal.complained() };
  }

  test('set a secret from standard input, list and delete it, and never print it', async () => {
    const set = await command(['set', '--tenant', 'acme', 'crm'], `${VALUE}\n`);
    expect(set).toEqual({ code: 0, out: 'acme/crm, version 1\n', err: '' });
    expect(await readSecret('acme', 'crm', deps)).toBe(VALUE);
    const listed = await command(['list']);
    expect(listed.out).toMatch(/^acme\/crm, version 1, set \S+ by cli\n$/);
    expect((await command(['list', '--tenant', 'other'])).out).toBe('');
    expect((await command(['delete', '--tenant', 'acme', 'crm'])).out).toBe('acme/crm is deleted\n');
    expect(await command(['delete', '--tenant', 'acme', 'crm'])).toMatchObject({ code: 1, out: '' });
    expect(acts.rows.map(({ action, actor }) => `${actor} ${action}`)).toEqual(['cli secret.set', 'cli secret.delete']);
  });

  test('print a new signing secret', async () => {
    const { out } = await command(['signing', '--tenant', 'acme']);
    expect(await signingSecrets('acme', deps)).toEqual([out.trim()]);
  });

  test.each([
    [[], 'secrets needs a command'],
    [['show'], '--tenant is missing'],
    [['show', '--tenant', 'acme'], 'secrets has no command "show"'],
    [['set', '--tenant', 'acme'], 'the name is missing'],
    [['set', '--tenant', 'acme', 'crm', 'my-value'], 'is not understood'],
    [['set', '--tenant', 'acme', '--value', 'x', 'crm'], "Unknown option '--value'"],
  ])('say what is wrong with %j', async (args, words) => {
    const { code, err } = await command(args, VALUE);
    expect([code, err]).toEqual([64, expect.stringContaining(words)]);
    expect(err).toContain('secrets set --tenant T NAME');
  });
});

describe('A service in production without SEALING_KEY', () => {
  test('starts as long as there is no secret, and not with one that it cannot open', async () => {
    const { secrets, sealer } = deps;
    await expect(requireSealer(undefined, secrets)).resolves.toBeUndefined();
    await setSecret({ tenantId: 'acme', name: 'crm', value: VALUE }, by, deps);
    await expect(requireSealer(sealer, secrets)).resolves.toBeUndefined();
    await expect(requireSealer(undefined, secrets)).rejects.toThrow(/SEALING_KEY.*acme\/crm/s);
  });
});
