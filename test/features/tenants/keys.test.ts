import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { KeyTaken, TooManyKeys, type WidgetKey } from '../../../src/stores/tenants/contract.ts';
import {
  issueKey,
  issueKeys,
  findKey,
  listKeys,
  pauseKey,
  resumeKey,
  revokeKey,
  type IssueRequest,
} from '../../../src/tenants/keys.ts';
import { warningsOf } from '../../../src/tenants/key-rules.ts';
import { aKey, aTenant, FakeActs, FakeBus, FakeTenants } from './fakes.ts';

function build() {
  const tenants = new FakeTenants(
    aTenant('acme', { agents: [{ id: 'guide' }], keys: [aKey('acme', 'site'), aKey('acme', 'shop')] }),
    aTenant('Other.Co', { keys: [aKey('Other.Co', 'site')] }),
  );
  return { tenants, acts: new FakeActs(), bus: new FakeBus(), clock: { now: () => 42 } };
}

async function found(idOrKey: string, deps: ReturnType<typeof build>): Promise<WidgetKey> {
  const key = await findKey('acme', idOrKey, deps);
  if (key === undefined) throw new Error(`acme has no key ${idOrKey}`);
  return key;
}

const by = { actor: 'ops@acme.example', role: 'operator', reason: 'new site', requestId: 'req_1' } as const;
const kept = { ...by, atMs: 42, tenantId: 'acme', batchId: null };
const request: IssueRequest = { tenantId: 'acme', site: 'Web Shop', origin: 'https://shop.acme.example' };

describe('Issuing a key', () => {
  test('makes one of the documented form, tells every node and leaves an audit row', async () => {
    const deps = build();
    const key = (await issueKey(request, by, deps)) as WidgetKey;
    expect(key.key).toMatch(/^w_acme_web_shop_[0-9a-f]{32}$/);
    expect(key).toMatchObject({ tenantId: 'acme', label: '', revokedAtMs: null });
    expect(await listKeys(deps, 'acme')).toContainEqual(key);
    expect(deps.bus.published).toEqual([{ type: 'tenants.changed' }]);
    expect(deps.acts.rows).toEqual([{ ...kept, action: 'key.issue', target: `acme/${key.id}`, result: 'done' }]);
  });

  test('makes one that is not open: no overrides, its own agents, totals, no data channel', async () => {
    const key = (await issueKey(request, by, build())) as WidgetKey;
    expect(key).toMatchObject({
      agents: ['guide'],
      allowOverrides: false,
      call: null,
      dataChannel: 'none',
      limits: {},
    });
    const totals = { sessionsPerMinute: 120, concurrentSessions: 100, tokensDaily: 3_000_000, dollarsDaily: 200 };
    expect(key.totals).toEqual(totals);
    expect(warningsOf(key, {})).toEqual([]);
    const bare = (await issueKey({ ...request, tenantId: 'Other.Co' }, by, build())) as WidgetKey;
    expect([bare.agents, warningsOf(bare, {})]).toEqual([null, ['any_agent']]);
  });

  test('opens one for an operator who says so, and keeps that in the audit', async () => {
    const deps = build();
    const open = { agents: null, allowOverrides: true, dataChannel: 'open', totals: {} } as const;
    const key = (await issueKey({ ...request, ...open }, by, deps)) as WidgetKey;
    expect(key).toMatchObject(open);
    expect(warningsOf(key, {})).toEqual(['overrides', 'no_totals', 'any_agent']);
    expect(deps.acts.rows[0]?.reason).toBe('an open key (overrides, no_totals, any_agent): new site');
  });

  test('never opens one for an admin of the tenant, who always has totals', async () => {
    const boss = { ...by, role: 'tenant_admin' } as const;
    const faultsOf = async (wish: Partial<IssueRequest>): Promise<unknown> => {
      const refusal = (await issueKey({ ...request, ...wish }, boss, build())) as Refusal;
      return [refusal.code, refusal.additions.details?.map(({ path }) => path)];
    };
    expect(await faultsOf({ allowOverrides: true })).toEqual(['FORBIDDEN', ['allowOverrides']]);
    expect(await faultsOf({ agents: null })).toEqual(['FORBIDDEN', ['agents']]);
    expect(await faultsOf({ dataChannel: 'open' })).toEqual(['FORBIDDEN', ['dataChannel']]);
    for (const totals of [undefined, {}, { concurrentSessions: 5 }]) {
      const key = (await issueKey({ ...request, totals }, boss, build())) as WidgetKey;
      expect(key.totals).toMatchObject({ dollarsDaily: 200, tokensDaily: 3_000_000, ...totals });
      expect(warningsOf(key, {})).toEqual([]);
    }
  });

  test('makes none where the tenant has as many as it may', async () => {
    const deps = build();
    deps.tenants.issue = () => Promise.reject(new TooManyKeys('the tenant acme has 2 keys, and may have 2'));
    const refusal = (await issueKey(request, by, deps)) as Refusal;
    expect([refusal.code, refusal.error]).toEqual([
      'CONFLICT',
      'the tenant acme has 2 keys, and may have 2 (maxKeys in TENANTS_FILE); revoke one that is not used.',
    ]);
  });

  test('never makes the same key twice, and counts the ids of a site', async () => {
    const deps = build();
    const [one, two] = [await issueKey(request, by, deps), await issueKey(request, by, deps)] as WidgetKey[];
    expect(one?.key).not.toBe(two?.key);
    expect([one?.id, two?.id]).toEqual(['acme-web-shop', 'acme-web-shop-2']);
  });

  test.each([
    ['acme', 'www', 'acme-www'],
    ['acme', 'acme-www', 'acme-www'],
    ['acme', 'Acme', 'acme'],
    ['Other.Co', ' Pre-Production! ', 'other-co-pre-production'],
    ['acme', 'x'.repeat(60), `acme-${'x'.repeat(40)}`],
  ])('in the tenant %s for the site %j gives it the id %s', async (tenantId, site, id) => {
    expect(await issueKey({ ...request, tenantId, site }, by, build())).toMatchObject({ id });
  });

  test('for several origins makes a key of each, in one batch', async () => {
    const deps = build();
    const origins = ['https://shop.acme.example', 'https://acme.example'];
    const keys = (await issueKeys({ tenantId: 'acme', site: 'www', origins }, by, deps)) as WidgetKey[];
    expect(keys.map(({ id, origin }) => [id, origin])).toEqual([
      ['acme-www', origins[0]],
      ['acme-www-2', origins[1]],
    ]);
    const rows = deps.acts.rows.map(({ target, result }) => `${target} ${result}`);
    expect(rows.toSorted()).toEqual(['acme/acme-www done', 'acme/acme-www-2 done']);
    expect(deps.acts.rows[0]?.batchId).toMatch(/^batch_[\w-]{22}$/);
    expect(new Set(deps.acts.rows.map(({ batchId }) => batchId)).size).toBe(1);
  });

  test('for several origins makes none when one of them is wrong or named twice', async () => {
    const deps = build();
    const origins = ['https://a.example', 'https://a.example', 'https://b.example/'];
    const refusal = (await issueKeys({ tenantId: 'acme', site: 'www', origins }, by, deps)) as Refusal;
    expect(refusal.error).toBe(
      'origin: https://a.example is named twice; origin: must be an exact origin, as browsers send it: https://b.example',
    );
    expect(await listKeys(deps, 'acme')).toHaveLength(2);
  });

  test('takes the next id where another command took one meanwhile', async () => {
    const deps = build();
    const other = aKey('acme', 'acme-web-shop');
    const insert = deps.tenants.issue.bind(deps.tenants);
    let isFirst = true;
    deps.tenants.issue = async (keys) => {
      if (!isFirst) return insert(keys);
      isFirst = false;
      await insert([other]);
      throw new KeyTaken('acme/acme-web-shop is in use');
    };
    expect(await issueKey(request, by, deps)).toMatchObject({ id: 'acme-web-shop-2' });
    expect(deps.acts.rows.map(({ target, result }) => `${target} ${result}`)).toEqual([
      'acme/acme-web-shop failed',
      'acme/acme-web-shop-2 done',
    ]);
  });

  test("puts the tenant's name into the key as lower-case words", async () => {
    const key = (await issueKey({ ...request, tenantId: 'Other.Co', site: 'prod' }, by, build())) as WidgetKey;
    expect(key.key).toMatch(/^w_other_co_prod_[0-9a-f]{32}$/);
  });

  test('keeps pins, overrides and limits', async () => {
    const more = {
      agents: ['guide'],
      allowOverrides: false,
      limits: { concurrentSessions: 5 },
      totals: { dollarsDaily: 9 },
      label: 'Shop',
    };
    expect(await issueKey({ ...request, ...more }, by, build())).toMatchObject(more);
  });

  test('tells every wrong field at once and changes nothing', async () => {
    const deps = build();
    const wrong = {
      tenantId: 'acme',
      site: '!',
      origin: 'https://*.acme.example',
      agents: ['ghost'],
      limits: { dailyTokens: -1 },
      totals: { dollarsDaily: -1 },
    };
    const refusal = (await issueKey(wrong, by, deps)) as Refusal;
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal.code).toBe('INVALID_REQUEST');
    expect(refusal.additions.details?.map(({ path }) => path)).toEqual([
      'site',
      'origin',
      'agents',
      'limits.dailyTokens',
      'totals.dollarsDaily',
    ]);
    expect([deps.acts.rows, deps.bus.published]).toEqual([[], []]);
  });

  test('waits for no words where no call is heard', async () => {
    const rules = {
      noBrokering: 'must not ask',
      hearsCalls: false,
      widget: { sessionsPerMinute: 1, dailyTokens: 1, dailyDollars: 1, concurrentSessions: 1 },
    };
    const limits = { newVisitorSeconds: 60 };
    const refusal = (await issueKey({ ...request, limits }, by, { ...build(), rules })) as Refusal;
    expect(refusal.error).toBe('limits.newVisitorSeconds: must be left out: calls are not heard here');
    const boss = { ...by, role: 'tenant_admin' } as const;
    const heard = { ...build(), rules: { ...rules, noBrokering: undefined, hearsCalls: true } };
    // This limit makes a key safer, so an admin may set it.
    expect(await issueKey({ ...request, limits }, boss, heard)).toMatchObject({ limits });
  });

  test('needs a tenant that exists', async () => {
    const refusal = (await issueKey({ ...request, tenantId: 'ghost' }, by, build())) as Refusal;
    expect(refusal.error).toBe('tenantId: there is no tenant "ghost"; tenants come from TENANTS_FILE');
  });
});

describe('Pausing a key', () => {
  test('and resuming it tell every node, and leave a row for what each of them changed', async () => {
    const deps = build();
    expect(await pauseKey(await found('site', deps), by, deps)).toMatchObject({ pausedAtMs: 42, revokedAtMs: null });
    expect(await pauseKey(await found('site', deps), by, { ...deps, clock: { now: () => 99 } })).toMatchObject({
      pausedAtMs: 42,
    });
    expect(await resumeKey(await found('w_acme_site', deps), by, deps)).toMatchObject({ id: 'site', pausedAtMs: null });
    expect(await resumeKey(await found('site', deps), by, deps)).toMatchObject({ pausedAtMs: null });
    expect(deps.acts.rows.map(({ action, target, result }) => [action, target, result])).toEqual([
      ['key.pause', 'acme/site', 'done'],
      ['key.pause', 'acme/site', 'unchanged'],
      ['key.resume', 'acme/site', 'done'],
      ['key.resume', 'acme/site', 'unchanged'],
    ]);
    expect(deps.bus.published).toHaveLength(4);
  });

  test('that is revoked changes nothing', async () => {
    const deps = build();
    await revokeKey(await found('site', deps), by, deps);
    expect(await pauseKey(await found('site', deps), by, deps)).toMatchObject({ pausedAtMs: null, revokedAtMs: 42 });
    expect(deps.acts.rows.at(-1)).toMatchObject({ action: 'key.pause', result: 'unchanged' });
  });
});

describe('Revoking a key', () => {
  test.each([['site'], ['w_acme_site']])('by %s tells every node and leaves an audit row', async (idOrKey) => {
    const deps = build();
    expect(await revokeKey(await found(idOrKey, deps), by, deps)).toMatchObject({
      id: 'site',
      tenantId: 'acme',
      revokedAtMs: 42,
    });
    expect(deps.bus.published).toEqual([{ type: 'tenants.changed' }]);
    expect(deps.acts.rows).toEqual([{ ...kept, action: 'key.revoke', target: 'acme/site', result: 'done' }]);
    const revoked = (await listKeys(deps)).filter(({ revokedAtMs }) => revokedAtMs !== null);
    expect(revoked.map(({ key }) => key)).toEqual(['w_acme_site']);
  });

  test('twice keeps the first time', async () => {
    const deps = build();
    await revokeKey(await found('site', deps), by, deps);
    expect(await revokeKey(await found('site', deps), by, { ...deps, clock: { now: () => 99 } })).toMatchObject({
      revokedAtMs: 42,
    });
  });
});

test('A key that is another tenant’s, or nobody’s, is not found', async () => {
  const deps = build();
  expect(await findKey('acme', 'w_Other.Co_site', deps)).toBeUndefined();
  expect(await findKey('acme', 'ghost', deps)).toBeUndefined();
});
