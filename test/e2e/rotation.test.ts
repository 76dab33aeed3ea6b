import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSealers } from '../../src/app/core.ts';
import type { Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/open.ts';
import { SealBroken } from '../../src/kernel/seal.ts';
import { readSecret, signingSecrets, type SecretsDeps } from '../../src/tenant-secrets/secrets.ts';
import { webhookSecrets } from '../../src/tenant-secrets/webhook-secrets.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import { namedEndpoint } from '../../src/stores/webhooks/contract.ts';
import { bash, commandsOf } from '../support/manual.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [replaceKey = '', replaceSigning = '', sealAnew = ''] = commandsOf('docs/rotation.md');
const skipped = reasonToSkipPostgres();
const [former, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const tenant = {
  id: 'acme',
  widgetKeys: [],
  agents: [{ id: 'support', model: 'gpt-realtime', voice: 'marin', instructions: 'Help.', tools: [] }],
  webhooks: [{ id: 'billing', url: 'https://hooks.acme.example/', types: ['session.settled'] }],
};

let directory: string;
let fresh: FreshDatabase;
let database: Database;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-rotation-'));
  writeFileSync(join(directory, 'tenants.json'), JSON.stringify({ tenants: [tenant] }));
  fresh = await neededDatabase();
  database = openExternal({ url: fresh.url, maxConnections: 2, deadlineMs: 60_000 });
});

afterEach(async () => {
  await database.close();
  await fresh.drop();
  rmSync(directory, { recursive: true, force: true });
});

/** What a node needs to open secrets, if it has these keys. */
async function openedBy(...keys: readonly string[]): Promise<SecretsDeps> {
  const { tenantSecrets, installation, journal } = createPostgresStores(database);
  const sealingKeys = keys.map((key) => Buffer.from(key, 'base64')) as [Buffer, ...Buffer[]];
  const { secrets: sealer } = await openSealers({ sealingKeys, mode: 'production' }, installation);
  return { secrets: tenantSecrets, acts: journal, clock: Date, sealer };
}

describe.skipIf(skipped !== undefined)(`A rotation ${skipped ?? ''}`, () => {
  test('of widget keys, signing secrets and the sealing key works as docs/rotation.md says', async () => {
    const run = (commands: string, keys: string): Promise<string> =>
      bash(commands, root, {
        DATABASE_URL: fresh.url,
        TENANTS_FILE: join(directory, 'tenants.json'),
        SEALING_KEY: keys,
        VALUE: 'Bearer of-acme',
      });
    const [, set = ''] = sealAnew.trim().split('\n');
    const [issue = ''] = replaceKey.split('\n');

    await run([issue, replaceSigning, set].join('\n'), former);

    const replaced = await run(replaceKey, `${next},${former}`);
    expect(replaced).toMatch(/acme\/acme-shop-2\b/);
    const printed = await run(replaceSigning, `${next},${former}`);
    expect(printed.match(/whsec_\S+/g)).toHaveLength(2);
    await run(set, `${next},${former}`);
    // The former version of the signing secret still needs the former key.
    expect(await readSecret('acme', 'crm', await openedBy(next))).toBe('Bearer of-acme');
    await expect(signingSecrets('acme', await openedBy(next))).rejects.toThrow(SealBroken);

    await run(replaceSigning + sealAnew, `${next},${former}`);
    const deps = await openedBy(next);
    expect(await readSecret('acme', 'crm', deps)).toBe('Bearer of-acme');
    expect(await signingSecrets('acme', deps)).toHaveLength(2);
    const signs = await webhookSecrets({ tenantId: 'acme', id: namedEndpoint('acme', 'billing') }, Date.now(), deps);
    expect(signs).toHaveLength(2);
    expect(printed).toContain(signs[1]);
  });
});
