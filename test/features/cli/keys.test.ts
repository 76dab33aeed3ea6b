import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, type KeyStores } from '../../../src/cli/keys.ts';
import { DirectoryInUse } from '../../../src/database/embedded/directory-lock.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { aKey, aTenant, FakeActs, FakeBus, FakeTenants } from '../tenants/fakes.ts';
import { fakeTerminal } from './terminal.ts';
import { TooManyInFile } from '../../../src/stores/tenants/contract.ts';

function build(env: NodeJS.ProcessEnv = {}, open?: () => Promise<KeyStores>) {
  const tenants = new FakeTenants(
    aTenant('acme', { agents: [{ id: 'guide' }, { id: 'sales' }], keys: [aKey('acme', 'site')] }),
    aTenant('other', { keys: [aKey('other', 'site', { revokedAtMs: 0, label: 'Old' })] }),
  );
  const acts = new FakeActs();
  const state = { opened: 0, closed: 0 };
  const stores = { tenants, acts, bus: new FakeBus(), close: () => Promise.resolve(void (state.closed += 1)) };
  const openStores = () => {
    state.opened += 1;
    return open ? open() : Promise.resolve(stores);
  };
  return { terminal: { ...fakeTerminal(env), openStores }, tenants, acts, state };
}

const issue = ['issue', '--tenant', 'acme', '--site', 'shop', '--origin', 'https://shop.acme.example'];

describe('keys issue', () => {
  test('prints the new key as JSON, pinned as asked', async () => {
    const { terminal, acts, state } = build();
    const args = [...issue, '--label', 'Shop', '--agents', 'guide, sales', '--pinned', '--call', 'brokered', '--json'];
    expect(await run(args, terminal)).toBe(0);
    expect(JSON.parse(terminal.printed())).toMatchObject({
      tenantId: 'acme',
      key: expect.stringMatching(/^w_acme_shop_[0-9a-f]{32}$/) as unknown,
      label: 'Shop',
      agents: ['guide', 'sales'],
      allowOverrides: false,
      call: 'brokered',
      revoked: false,
    });
    expect(acts.rows).toMatchObject([{ actor: 'cli', action: 'key.issue' }]);
    expect(state).toEqual({ opened: 1, closed: 1 });
  });

  test('prints it for people', async () => {
    const { terminal } = build();
    expect(await run(issue, terminal)).toBe(0);
    expect(terminal.printed()).toMatch(/^acme\/acme-shop\n {2}key {8}w_acme_shop_\w{32}\n {2}origin {5}https:\/\/shop/);
    expect(terminal.printed()).toMatch(/^ {2}totals {5}sessionsPerMinute 120, concurrentSessions 100, /m);
  });

  test('prints the tag to be pasted, with an agent of the key or else of the tenant', async () => {
    const { terminal } = build({ PUBLIC_URL: 'https://voice.acme.example' });
    expect(await run([...issue, '--agents', 'sales'], terminal)).toBe(0);
    const [, key = ''] = /key {8}(\w+)/.exec(terminal.printed()) ?? [];
    expect(terminal.printed().split('\n\n').slice(1)).toEqual([
      'Paste this into the page at https://shop.acme.example:',
      `<script src="https://voice.acme.example/switchboard-widget.js" defer></script>\n<switchboard-widget widget-key="${key}" tenant-id="acme" agent-id="sales"></switchboard-widget>\n`,
    ]);
    const other = build();
    await run(issue, other.terminal);
    expect(other.terminal.printed()).toContain('src="http://localhost:3000/switchboard-widget.js"');
    expect(other.terminal.printed()).toContain(' agent-id="guide">');
  });

  test('keeps pages from changing an agent unless --overrides is given', async () => {
    const allowOverrides = async (...more: string[]) => {
      const { terminal } = build();
      expect(await run([...issue, '--json', ...more], terminal)).toBe(0);
      return (JSON.parse(terminal.printed()) as { allowOverrides: boolean }).allowOverrides;
    };
    expect(await allowOverrides()).toBe(false);
    expect(await allowOverrides('--pinned')).toBe(false);
    expect(await allowOverrides('--overrides')).toBe(true);
  });

  test('allows the agents of the tenant, those that are named, or any, and no data channel unless asked for', async () => {
    const issued = async (...more: string[]) => {
      const { terminal } = build();
      expect(await run([...issue, '--json', ...more], terminal)).toBe(0);
      const { agents, dataChannel, warnings } = JSON.parse(terminal.printed()) as Record<string, unknown>;
      return [agents, dataChannel, warnings];
    };
    expect(await issued()).toEqual([['guide', 'sales'], 'none', []]);
    expect(await issued('--agents', 'sales')).toEqual([['sales'], 'none', []]);
    expect(await issued('--agents', '*', '--data-channel', 'open')).toEqual([null, 'open', ['any_agent']]);
    const wrong = build();
    expect(await run([...issue, '--data-channel', 'wide'], wrong.terminal)).toBe(64);
    expect(wrong.terminal.complained()).toContain('--data-channel is "wide", and must be open or none');
  });

  test('says what makes a key open, to people and in the audit', async () => {
    const { terminal, acts } = build();
    expect(await run([...issue, '--overrides', '--totals', 'none', '--reason', 'a pilot'], terminal)).toBe(0);
    expect(terminal.printed()).toMatch(/^ {2}warning {4}overrides: pages may ask for any model and instructions$/m);
    expect(terminal.printed()).toMatch(
      /^ {2}warning {4}no totals: nothing bounds what all its visitors use in a day$/m,
    );
    expect(acts.rows).toMatchObject([{ reason: 'an open key (overrides, no_totals): a pilot' }]);
  });

  test('makes a key for each --origin, with a tag for each', async () => {
    const { terminal } = build();
    expect(await run([...issue, '--origin', 'https://acme.example', '--json'], terminal)).toBe(0);
    expect(JSON.parse(terminal.printed())).toMatchObject([
      { id: 'acme-shop', origin: 'https://shop.acme.example' },
      { id: 'acme-shop-2', origin: 'https://acme.example' },
    ]);
    const people = build();
    await run([...issue, '--origin', 'https://acme.example'], people.terminal);
    expect(people.terminal.printed().match(/<switchboard-widget /g)).toHaveLength(2);
  });

  test('takes a tenant from the file that no server has started with yet, and leaves its keys there', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'switchboard-keys-')), 'tenants.json');
    const widgetKeys = [{ key: 'w_new_site', origin: 'https://new.example' }];
    await writeFile(file, JSON.stringify({ tenants: [{ id: 'new', widgetKeys, agents: [{ id: 'guide' }] }] }));
    const { terminal, tenants } = build({ TENANTS_FILE: file });
    const args = ['issue', '--tenant', 'new', '--site', 'www', '--origin', 'https://www.new.example'];
    tenants.mergeFault = new TooManyInFile('webhooks', [{ tenantId: 'new', named: 3, others: 8 }]);
    expect(await run(args, terminal)).toBe(78);
    expect(terminal.complained()).toContain('tenant new: 3 webhooks are too many: it has 8 more');
    tenants.mergeFault = undefined;
    expect(await run(args, terminal)).toBe(0);
    expect(terminal.printed()).toMatch(/^new\/new-www\n/);
    const made = tenants.tenants.find(({ id }) => id === 'new');
    expect(made?.keys.map(({ id }) => id)).toEqual(['new-www']);
    expect(made?.agents).toEqual([{ id: 'guide' }]);
    await rm(dirname(file), { recursive: true });
  });

  test('says how calls are opened where it was asked for, and knows two ways', async () => {
    const { terminal } = build();
    expect(await run([...issue, '--call', 'direct'], terminal)).toBe(0);
    expect(terminal.printed()).toMatch(/^ {2}call {7}direct$/m);
    const wrong = build();
    expect(await run([...issue, '--call', 'sideways'], wrong.terminal)).toBe(64);
    expect(wrong.terminal.complained()).toContain('--call is "sideways", and must be direct or brokered');
    expect(wrong.state.opened).toBe(0);
  });

  test('says how callers of the key are challenged, with the name of a secret and never the secret', async () => {
    const { terminal } = build();
    const bots = 'provider=turnstile, siteKey=0x4AAA, secret=captcha, challenge=always, minScore=0.5';
    expect(await run([...issue, '--json', '--bots', bots], terminal)).toBe(0);
    expect((JSON.parse(terminal.printed()) as { bots: object }).bots).toEqual({
      provider: 'turnstile',
      siteKey: '0x4AAA',
      secret: '${secret:captcha}',
      challenge: 'always',
      minScore: 0.5,
    });
    const shown = build();
    expect(await run([...issue, '--bots', 'challenge=always'], shown.terminal)).toBe(0);
    expect(shown.terminal.printed()).toMatch(/^ {2}bots {7}challenge always$/m);
    const wrong = build();
    expect(await run([...issue, '--bots', 'provider=turnstile'], wrong.terminal)).toBe(1);
    expect(wrong.terminal.complained()).toContain('bots.siteKey: is missing, and turnstile needs it');
    const unreadable = build();
    expect(await run([...issue, '--bots', 'always'], unreadable.terminal)).toBe(64);
  });

  test('bounds what all visitors of the key may use together: as asked, or else as usual', async () => {
    const issued = async (...more: string[]) => {
      const { terminal } = build();
      expect(await run([...issue, '--json', ...more], terminal)).toBe(0);
      return (JSON.parse(terminal.printed()) as { totals: object }).totals;
    };
    expect(await issued('--totals', 'concurrentSessions=20, dollarsDaily=0.5')).toEqual({
      concurrentSessions: 20,
      dollarsDaily: 0.5,
    });
    expect(await issued('--totals', 'none')).toEqual({});
    expect(await issued()).toEqual({
      sessionsPerMinute: 120,
      concurrentSessions: 100,
      tokensDaily: 3_000_000,
      dollarsDaily: 200,
    });
  });

  test('limits each visitor of the key as asked', async () => {
    const { terminal } = build();
    expect(await run([...issue, '--json', '--limits', 'newVisitorSeconds=60,dailyDollars=0.5'], terminal)).toBe(0);
    expect(JSON.parse(terminal.printed())).toMatchObject({ limits: { newVisitorSeconds: 60, dailyDollars: 0.5 } });
    const shown = build();
    expect(await run([...issue, '--limits', 'newVisitorSeconds=60'], shown.terminal)).toBe(0);
    expect(shown.terminal.printed()).toMatch(/^ {2}limits {5}newVisitorSeconds 60$/m);
    const unreadable = build();
    expect(await run([...issue, '--limits', '60'], unreadable.terminal)).toBe(64);
  });

  test.each([
    [['newVisitorSeconds=9'], 'must be at least 10 seconds, in which a visitor can begin to speak'],
    [['newVisitorSeconds=86401'], 'must be at most 86400 seconds'],
    [['newVisitorSeconds=20.5'], 'must be a whole number of seconds from 10 to 86400'],
    [
      ['newVisitorSeconds=60', '--call', 'direct'],
      'must be left out: direct calls are not heard; set call to brokered',
    ],
  ])('refuses --limits %s', async (limits, complaint) => {
    const { terminal } = build();
    expect(await run([...issue, '--limits', ...limits], terminal)).toBe(1);
    expect(terminal.complained()).toBe(`limits.newVisitorSeconds: ${complaint}\n`);
  });

  test.each([
    ['tokensDaily=-1', 'totals.tokensDaily: must be a whole number from 0 to 1000000000000\n'],
    ['minutes=1', 'totals.minutes: is not a known field\n'],
    ['dollarsDaily=ten', 'totals.dollarsDaily: must be an amount of dollars\n'],
  ])('refuses --totals %s', async (totals, complaint) => {
    const { terminal } = build();
    expect(await run([...issue, '--totals', totals], terminal)).toBe(1);
    expect(terminal.complained()).toBe(complaint);
  });

  test('tells why it is refused, with exit code 1', async () => {
    const { terminal, state } = build();
    expect(await run(['issue', '--tenant', 'acme', '--site', 's', '--origin', 'https://a.example/'], terminal)).toBe(1);
    expect(terminal.complained()).toBe('origin: must be an exact origin, as browsers send it: https://a.example\n');
    expect(state.closed).toBe(1);
  });
});

describe('keys list', () => {
  test('prints the keys of all tenants, or of one', async () => {
    const all = build();
    expect(await run(['list', '--json'], all.terminal)).toBe(0);
    expect(JSON.parse(all.terminal.printed())).toMatchObject([
      { tenantId: 'acme', revoked: false, revokedAt: null },
      { tenantId: 'other', revoked: true, revokedAt: '1970-01-01T00:00:00.000Z' },
    ]);
    const one = build();
    await run(['list', '--tenant', 'other'], one.terminal);
    expect(one.terminal.printed()).toContain('other/site  Old\n');
    expect(one.terminal.printed()).not.toContain('acme');
  });

  test('says so when there is none', async () => {
    const { terminal } = build();
    await run(['list', '--tenant', 'ghost'], terminal);
    expect(terminal.printed()).toBe('There are no keys.\n');
  });
});

describe('keys pause and keys resume', () => {
  test('stop a key from opening sessions and let it again, with a reason for the audit', async () => {
    const { terminal, acts } = build();
    const args = ['--tenant', 'acme', '--id', 'site', '--reason', 'rebuilt'];
    expect(await run(['pause', ...args], terminal)).toBe(0);
    expect(terminal.printed()).toMatch(/^ {2}paused {5}20\d\d-/m);
    expect(await run(['resume', ...args], terminal)).toBe(0);
    expect(acts.rows).toMatchObject([
      { action: 'key.pause', target: 'acme/site', reason: 'rebuilt', actor: 'cli', result: 'done' },
      { action: 'key.resume', target: 'acme/site', reason: 'rebuilt', actor: 'cli', result: 'done' },
    ]);
  });
});

describe('keys revoke', () => {
  test('revokes with a reason for the audit', async () => {
    const { terminal, acts } = build();
    expect(await run(['revoke', '--tenant', 'acme', '--id', 'site', '--reason', 'leaked', '--json'], terminal)).toBe(0);
    expect(JSON.parse(terminal.printed())).toMatchObject({ id: 'site', revoked: true });
    expect(acts.rows).toMatchObject([{ action: 'key.revoke', target: 'acme/site', reason: 'leaked', actor: 'cli' }]);
  });

  test('tells a key that does not exist', async () => {
    const { terminal } = build();
    expect(await run(['revoke', '--tenant', 'acme', '--id', 'ghost'], terminal)).toBe(1);
    expect(terminal.complained()).toBe(
      'The tenant "acme" has no widget key "ghost"; `keys list` names those that there are.\n',
    );
  });
});

describe('keys', () => {
  test.each<[string[], string]>([
    [[], 'keys needs a command'],
    [['drop'], 'keys has no command "drop"'],
    [['issue', '--tenant', 'acme'], '--site is missing'],
    [['issue', '--tenant', 'acme', '--site', 's'], '--origin is missing'],
    [[...issue, '--overrides', '--pinned'], '--overrides and --pinned contradict each other'],
    [['revoke', '--tenant', 'acme', '--id', ' '], '--id is missing'],
    [[...issue, '--totals', 'concurrentSessions'], '--totals has "concurrentSessions"'],
    [['list', '--tenat', 'acme'], "Unknown option '--tenat'"],
    [['list', 'acme'], "Unexpected argument 'acme'"],
  ])('%j teaches its usage before it opens anything, with exit code 64', async (args, message) => {
    const { terminal, state } = build();
    expect(await run(args, terminal)).toBe(64);
    expect(terminal.complained()).toContain(message);
    expect(terminal.complained()).toContain('keys revoke --tenant T --id I');
    expect(state.opened).toBe(0);
  });

  test('tells wrong settings with exit code 78', async () => {
    const { terminal } = build({ DATABASE_URL: 'mysql://db' });
    expect(await run(['list'], terminal)).toBe(78);
    expect(terminal.complained()).toContain('DATABASE_URL: must be an address that starts with postgres://');
  });

  test('beside a running server on the embedded database says what to do instead', async () => {
    const { terminal } = build({}, () => Promise.reject(new DirectoryInUse('data', '123')));
    expect(await run(['list'], terminal)).toBe(69);
    expect(terminal.complained()).toContain('use its console (Keys), or edit TENANTS_FILE');
  });

  test('tells a database that is away', async () => {
    const { terminal } = build({}, () => Promise.reject(new Unavailable('database')));
    expect(await run(['list'], terminal)).toBe(69);
    expect(terminal.complained()).toContain('database is not available');
  });
});
