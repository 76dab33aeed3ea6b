import { chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addTenantToFile, FileBusy, TenantExists, withTenant, WrongTenant } from '../../../src/tenants/add-to-file.ts';
import { parseTenantsFile, TenantsFileError } from '../../../src/tenants/tenants-file.ts';

/** A file system without locks. */
const noLock = (): Promise<undefined> => Promise.resolve(undefined);
const acme = { id: 'acme', name: 'Acme', agents: ['support'] };

describe('A tenants file with one more tenant', () => {
  test('has it at the end, in the indentation of the file, and all else as it was written', () => {
    const text = `{
    "tenants": [
        {"id": "old", "admins": ["a@x.example",   "b@x.example"], "name": "\\"]} [{" }
    ]
}
`;
    expect(withTenant(text, { ...acme, agents: [] })).toBe(`{
    "tenants": [
        {"id": "old", "admins": ["a@x.example",   "b@x.example"], "name": "\\"]} [{" },
        {
            "id": "acme",
            "name": "Acme",
            "widgetKeys": [],
            "agents": []
        }
    ]
}
`);
  });

  test.each([
    '{"tenants":[]}',
    '{"tenants": [ {"id":"one"} ] }\n',
    '\uFEFF{\n\t"tenants": [\n\t]\n}',
    '{\r\n  "tenants": [\r\n    { "id": "one", "agents": [{ "id": "tenants", "tools": [] }] }\r\n  ]\r\n}\r\n',
  ])('can be used: %j', (text) => {
    const before = parseTenantsFile(text, 'file', 0);
    const whole = withTenant(text, acme);
    const added = {
      id: 'acme',
      name: 'Acme',
      agents: [{ id: 'support' }],
      admins: null,
      adminsMay: undefined,
      keys: [],
    };
    expect(parseTenantsFile(whole, 'file', 0)).toEqual([...before, added]);
    expect(whole.replaceAll('\r\n', '').includes('\n')).toBe(text.replaceAll('\r\n', '').includes('\n'));
  });
});

describe('Adding a tenant to the file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-tenants-'));
    file = join(folder, 'tenants.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const tenantsIn = async () => parseTenantsFile(await readFile(file, 'utf8'), file, 0).map(({ id }) => id);

  test('makes the file where there is none, and changes it where there is one', async () => {
    expect(await addTenantToFile(file, acme, noLock)).toEqual({ isNew: true });
    expect(await addTenantToFile(file, { id: 'other', agents: [] }, noLock)).toEqual({ isNew: false });
    expect(await tenantsIn()).toEqual(['acme', 'other']);
    expect(await readdir(folder)).toEqual(['tenants.json']);
  });

  test('keeps who may read it, and a link to it', async () => {
    const real = join(folder, 'real.json');
    await writeFile(real, '{"tenants":[]}', { mode: 0o640 });
    await symlink(real, file);
    await addTenantToFile(file, acme, noLock);
    expect(await tenantsIn()).toEqual(['acme']);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(await readFile(real, 'utf8')).toContain('acme');
  });

  test('makes the file that a link leads to', async () => {
    await symlink('real.json', file);
    expect(await addTenantToFile(file, acme, noLock)).toEqual({ isNew: true });
    expect(await readFile(join(folder, 'real.json'), 'utf8')).toContain('acme');
    expect(await tenantsIn()).toEqual(['acme']);
  });

  // Only root can give a file to another user.
  test.runIf(process.getuid?.() === 0)('leaves it to its owner, as who a server may run', async () => {
    await writeFile(file, '{"tenants":[]}', { mode: 0o600 });
    await chown(file, 12_345, 12_346);
    await addTenantToFile(file, acme, noLock);
    const { uid, gid, mode } = await stat(file);
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 12_345, gid: 12_346, mode: 0o600 });
  });

  test.each([
    ['that is there already', '{"tenants":[{"id":"acme"}]}', acme, TenantExists, 'acme'],
    ['with a wrong id', '{"tenants":[]}', { id: 'a b', agents: [] }, WrongTenant, 'id: must be 1 to 64 letters'],
    ['with an agent twice', '{"tenants":[]}', { id: 'x', agents: ['a', 'a'] }, WrongTenant, 'is the same agent id'],
    ['while the file is wrong', '{"tenants":', acme, TenantsFileError, 'not valid JSON'],
  ])('%s changes nothing', async (_what, text, tenant, fault, message) => {
    await writeFile(file, text);
    const adding = addTenantToFile(file, tenant, noLock);
    await expect(adding).rejects.toThrow(fault);
    await expect(adding).rejects.toThrow(message);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await readdir(folder)).toEqual(['tenants.json']);
  });

  test('leaves alone what another writer may still be writing', async () => {
    await writeFile(`${file}.new`, 'half');
    await expect(addTenantToFile(file, acme, noLock)).rejects.toThrow(FileBusy);
    expect(await readFile(`${file}.new`, 'utf8')).toBe('half');
  });

  test('by several commands at once loses none: each is added, or told that another one writes', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `t${index}`);
    const done = await Promise.allSettled(ids.map((id) => addTenantToFile(file, { id, agents: [] }, noLock)));
    const added = ids.filter((_, index) => done[index]?.status === 'fulfilled');
    expect((await tenantsIn()).toSorted()).toEqual(added);
    const faults = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(faults.filter((fault) => !(fault instanceof FileBusy))).toEqual([]);
  });
});
