import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../config/config.ts';
import { startApp } from '../../../src/app/app.ts';
import { run as check, type CheckTerminal } from '../../../src/cli/check-config.ts';
import type { KeptInDatabase } from '../../../src/cli/open-stores.ts';
import { tellFault } from '../../../src/cli/tell-fault.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { freePort } from '../../support/services/server-process.ts';
import { aKey, aTenant } from '../tenants/fakes.ts';
import { fakeTerminal, type FakeTerminal } from './terminal.ts';

/** @param readDatabase by default there is no database yet */
function run(
  args: readonly string[],
  terminal: FakeTerminal,
  readDatabase: CheckTerminal['readDatabase'] = () => Promise.resolve(undefined),
): Promise<number> {
  return check(args, { ...terminal, readDatabase });
}

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'check-config-'))));
afterAll(() => rm(folder, { recursive: true }));

async function tenantsFile(content: string): Promise<string> {
  const file = join(folder, 'tenants.json');
  await writeFile(file, content);
  return file;
}

const fileOf = (tenants: readonly object[]): Promise<string> => tenantsFile(JSON.stringify({ tenants }));

/** Checks these settings, with which nothing is wrong. @returns what is printed */
async function passes(env: NodeJS.ProcessEnv, read?: CheckTerminal['readDatabase']): Promise<string> {
  const terminal = fakeTerminal(env);
  expect([await run([], terminal, read), terminal.complained()]).toEqual([0, '']);
  return terminal.printed();
}

/** Checks these settings, with which something is wrong. @returns what is said about it */
async function refuses(env: NodeJS.ProcessEnv, read?: CheckTerminal['readDatabase']): Promise<string> {
  const terminal = fakeTerminal(env);
  expect(await run([], terminal, read)).toBe(78);
  return terminal.complained();
}

const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://voice.example.com',
  DATABASE_URL: 'postgres://user:hunter2,hunter2@db.example.com/switchboard?password=hunter2',
  REDIS_URL: 'redis://:hunter2@one.example.com:6379,redis://:hunter2@two.example.com:6379',
  SMTP_URL: 'smtps://hunter2:hunter2@smtp.example.com',
  OPENAI_API_KEY: 'sk-hunter2',
  JWT_SECRET: 'https://hunter2.example/hunter2hunter2hunter2',
  CONSOLE_EMAILS: '@example.com',
  CALL_MODE: 'direct',
};

describe('check-config', () => {
  test('prints the settings in effect and what they mean, with exit code 0', async () => {
    const printed = await passes({ PORT: '8123' });
    const lines = printed.split('\n');
    expect(lines).toContain(`${'PORT'.padEnd(35)}8123`);
    expect(lines).toContain(`${'MAX_SESSION_MINUTES'.padEnd(35)}(default) 15`);
    expect(lines).toContain(`${'CONSOLE_MAX_CONCURRENT_SESSIONS'.padEnd(35)}(default) 1`);
    expect(lines).toContain('storage: embedded PostgreSQL in ./data');
    expect(lines).toContain('provider: local (an echo, no model)');
    expect(lines).toContain('tenants: 1 tenant, 4 widget keys (0 revoked) in config/tenants.json');
    expect(printed).not.toMatch(/^(?:warning|database):/m);
  });

  test.each([
    [
      { OPENAI_API_KEY: 'sk-1' },
      [
        "calls (direct): opened by the page, with the provider's own secret",
        '  the end of a session ends them: advisory: the page is told to hang up',
        '  who reports their cost: advisory: what the page and services report',
      ],
    ],
    [
      { OPENAI_API_KEY: 'sk-1', CALL_MODE: 'brokered' },
      [
        "calls (brokered): opened by Switchboard, with the project's key",
        '  the end of a session ends them: real: hung up over HTTP within 2 s, tried again until confirmed',
        "  who reports their cost: the provider's events, heard by Switchboard",
      ],
    ],
    [
      { UPSTREAM_PROVIDER: 'openai-live', OPENAI_API_KEY: 'sk-1', CALL_MODE: 'brokered' },
      ["  who reports their cost: connected time, by Switchboard's clock"],
    ],
    [
      { UPSTREAM_PROVIDER: 'gemini', GEMINI_API_KEY: 'k' },
      ['  what limits their duration: MAX_SESSION_MINUTES, in the secret (1 s to 1199 min)'],
    ],
  ])('tells what of calls is enforced, and what is the word of the page: %j', async (env, told) => {
    const printed = await passes(env);
    expect(printed.split('\n')).toEqual(expect.arrayContaining(told));
  });

  const closed = { totals: { dollarsDaily: 5 }, allowOverrides: false, agents: ['guide'] };

  async function fileOfKeys(): Promise<string> {
    const key = (id: string, more: object) => ({ id, key: `w_acme_${id}`, origin: 'https://acme.example', ...more });
    const widgetKeys = [
      key('free', {}),
      key('closed', closed),
      key('gone', { revoked: true }),
      key('unbounded', { ...closed, totals: {} }),
    ];
    return fileOf([{ id: 'acme', agents: [{ id: 'guide' }], widgetKeys }]);
  }

  function openKeysIn(printed: string): string[] {
    return [...printed.matchAll(/^warning: open key (.+)$/gm)].map(([, key = '']) => key);
  }

  test('names every key that is open, and why, and no others', async () => {
    const printed = await passes({ TENANTS_FILE: await fileOfKeys() });
    expect(openKeysIn(printed)).toEqual([
      'acme/free: pages may ask for any model and instructions; nothing bounds what all its visitors use in a day; pages may ask for any agent, or for none',
      'acme/unbounded: nothing bounds what all its visitors use in a day',
    ]);
    expect(printed).not.toContain('database:');
  });

  test('names those that only the database has, as a start would serve them', async () => {
    const acme = aTenant('acme', {
      keys: [
        aKey('acme', 'free', { revokedAtMs: 1 }),
        aKey('acme', 'unbounded', closed),
        aKey('acme', 'issued', { ...closed, allowOverrides: true }),
      ],
    });
    const other = aTenant('other', { keys: [aKey('other', 'site', { ...closed, agents: null })] });
    const kept = { tenants: [acme, other], secrets: [], webhooks: [], budgets: [] };
    const printed = await passes({ TENANTS_FILE: await fileOfKeys() }, () => Promise.resolve(kept));
    expect(openKeysIn(printed)).toEqual([
      'other/site: pages may ask for any agent, or for none',
      'acme/unbounded: nothing bounds what all its visitors use in a day',
      'acme/issued: pages may ask for any model and instructions',
    ]);
    expect(printed).toContain('\ndatabase: 2 widget keys that the tenants file does not name\n');
  });

  test('refuses webhooks and budgets with which there would be more than may be, and says what to do', async () => {
    const webhook = { url: 'https://hooks.acme.example/', types: ['session.settled'] };
    const webhooks = ['billing', 'crm'].map((id) => ({ ...webhook, id }));
    const budget = { id: 'all', of: 'installation', period: 'month', dollars: 1 };
    const env = {
      TENANTS_FILE: await tenantsFile(JSON.stringify({ tenants: [{ id: 'acme', webhooks }], budgets: [budget] })),
    };
    const kept = (count: number) => [
      { id: 'acme:billing', tenantId: 'acme' },
      ...Array.from({ length: count }, (_, n) => ({ id: `wh_${n}`, tenantId: 'acme' })),
      { id: 'wh_other', tenantId: 'other' },
    ];
    const read =
      (count: number, budgets: KeptInDatabase['budgets'] = []) =>
      () =>
        Promise.resolve({ tenants: [], secrets: [], webhooks: kept(count), budgets });
    await passes(env, read(8));
    expect(await refuses(env, read(9))).toContain(
      'tenant acme: 2 webhooks are too many: it has 9 more, which the file does not name, and may have 10 in all. Name fewer, or delete',
    );
    const all = Array.from({ length: 50 }, (_, n) => ({ id: `b${n}`, tenantId: null }));
    await passes(env, read(8, all.slice(1)));
    expect(await refuses(env, read(8, all))).toContain('the installation: 1 budgets are too many: it has 50 more');
  });

  test('says where the database cannot be read, and goes on', async () => {
    const away = () => Promise.reject(new Unavailable('database', new Error('connect ECONNREFUSED')));
    const printed = await passes({ TENANTS_FILE: await fileOfKeys() }, away);
    expect(printed).toContain(
      '\ndatabase: not read, so keys, webhooks and budgets that are only in it were not checked. The database cannot be used: connect ECONNREFUSED.',
    );
    expect(openKeysIn(printed)).toHaveLength(2);
  });

  test('tells of models without a price where calls are metered here, and of a list that cannot be read', async () => {
    const agents = [{ id: 'odd', model: 'mystery' }];
    const admins = ['@example.com'];
    const file = await fileOf([{ id: 'acme', admins, agents }]);
    const env = { ...production, TENANTS_FILE: file };
    await passes(env);
    const brokered = await refuses({ ...env, CALL_MODE: 'brokered' });
    expect(brokered).toContain('tenant acme, agent odd: has the model "mystery", which has no price');
    const unreadable = await refuses({ ...env, PRICES_FILE: join(folder, 'none.json') });
    expect(unreadable).toContain('PRICES_FILE: ');
    expect((await listed(env, { mystery: { perMinute: 1, estimatePerMinute: 1, shutdown: '2020-01-01' } })).code).toBe(
      0,
    );
  });

  test('warns of models that their provider switches off', async () => {
    const file = await fileOf([{ id: 'acme', agents: [{ id: 'odd', model: 'mystery' }] }]);
    const model = (shutdown: string) => ({ mystery: { perMinute: 1, estimatePerMinute: 1, shutdown } });
    expect((await listed({ TENANTS_FILE: file }, model('2020-01-01'))).printed).toMatch(
      /^warning: the model mystery \(acme\/odd\) is switched off .* 2020-01-01/m,
    );
    expect((await listed({ TENANTS_FILE: file }, model('9999-01-01'))).printed).not.toContain('warning:');
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL=grpc'],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' }, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }],
    [{}],
  ])(
    'warns of a protocol of OTLP that is not spoken, where a collector is named: %j',
    async (env, ...told: string[]) => {
      const named = await passes({
        ...env,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://hunter2.example/a?key=hunter2',
      });
      const warnings = [...named.matchAll(/^warning: (.*) is not spoken: /gm)].map(([, name]) => name);
      expect(warnings).toEqual(told);
      expect(named).not.toContain('key=hunter2');
      const unnamed = await passes(env);
      expect(unnamed).not.toContain('warning:');
    },
  );

  test('warns in production of a proxy that nobody named', async () => {
    const TENANTS_FILE = await tenantsFile('{ "tenants": [] }');
    expect(await passes({ ...production, TENANTS_FILE })).toMatch(/^warning: TRUST_PROXY is not set: /m);
    const named = { ...production, TENANTS_FILE, TRUST_PROXY: '10.0.0.0/8' };
    expect(await passes(named)).not.toContain('warning: TRUST_PROXY');
    expect(await passes({})).not.toContain('warning: TRUST_PROXY');
  });

  test('warns in production if there are no tenants, no operators, or no sender address that mail servers accept', async () => {
    const warnings = async (env: NodeJS.ProcessEnv): Promise<string[]> => {
      const printed = await passes({ ...production, TRUST_PROXY: '10.0.0.0/8', ...env });
      return [...printed.matchAll(/^warning: (.*?)[:,]/gm)].map(([, words = '']) => words);
    };
    const MAIL_FROM = 'Voice <voice@example.com>';
    const OPERATOR_EMAILS = 'ops@example.com';
    const none = await tenantsFile('{ "tenants": [] }');
    expect(await warnings({ TENANTS_FILE: none, OPERATOR_EMAILS: '', MAIL_FROM: '' })).toEqual([
      'there is no tenant',
      'OPERATOR_EMAILS is not set',
      'MAIL_FROM is an address at localhost',
    ]);
    const some = await tenantsFile('{ "tenants": [{ "id": "acme", "name": "Acme" }] }');
    expect(await warnings({ TENANTS_FILE: some, OPERATOR_EMAILS, MAIL_FROM })).toEqual([]);
  });

  test('warns of whole domains that operate', async () => {
    const printed = await passes({ OPERATOR_EMAILS: 'ann@ops.example,@ops.example' });
    expect(printed).toMatch(/^warning: OPERATOR_EMAILS has whole domains \(@ops\.example\): /m);
    const named = await passes({ OPERATOR_EMAILS: 'ann@ops.example' });
    expect(named).not.toContain('whole domains');
  });

  test('warns of limits of new visitors that come to nothing', async () => {
    const key = (id: string, more: object): object => {
      const usual = { id, key: `w_acme_${id}_${'0'.repeat(32)}`, origin: `https://${id}.example` };
      return { ...usual, totals: { dollarsDaily: 1 }, agents: ['heard'], allowOverrides: false, ...more };
    };
    const [minute, long] = [{ newVisitorSeconds: 60 }, { newVisitorSeconds: 900 }];
    const widgetKeys = [
      key('a', { limits: minute }),
      key('b', { limits: minute, agents: ['heard', 'direct'] }),
      key('c', { limits: long }),
      key('d', { limits: long, revoked: true }),
      key('e', { agents: ['direct'] }),
    ];
    const agents = [
      { id: 'heard', call: 'brokered' },
      { id: 'direct', call: 'direct' },
    ];
    const file = await fileOf([{ id: 'acme', agents, widgetKeys }]);
    const warned = async (provider: string): Promise<string[]> => {
      const env = { TENANTS_FILE: file, OPENAI_API_KEY: 'sk-1', CALL_MODE: 'brokered', UPSTREAM_PROVIDER: provider };
      const { printed } = await listed(env, {});
      return [...printed.matchAll(/^warning: limits.newVisitorSeconds (.+)$/gm)].map(([, text = '']) => text);
    };
    const tooLong = '(acme/c) has no effect: no session lasts longer than MAX_SESSION_MINUTES (15)';
    expect(await warned('openai')).toEqual([
      '(acme/b) has no effect on sessions whose calls are not heard here: set call to brokered',
      tooLong,
    ]);
    expect(await warned('openai-live')).toEqual([
      '(acme/a, acme/b, acme/c) has no effect: calls of the provider openai-live are not heard here',
      tooLong,
    ]);
  });

  test('warns of tools of the server that are never called, that a page can word, and of tools that creates bring along', async () => {
    const tool = { kind: 'server_tool', name: 'look', url: 'https://api.example/look' };
    const agents = [{ id: 'able', tools: [tool] }, { id: 'plain' }];
    const key = (id: string, more: object): object => {
      const digits = id.length.toString().repeat(32);
      const usual = { id, key: `w_acme_${id}_${digits}`, origin: `https://${id}.example`, totals: { dollarsDaily: 1 } };
      return { ...usual, agents: ['able'], allowOverrides: false, ...more };
    };
    const widgetKeys = [
      key('a', { dataChannel: 'none' }),
      key('bb', { call: 'direct' }),
      key('ccc', { dataChannel: 'open' }),
      key('dddd', { allowOverrides: true, dataChannel: 'none' }),
      key('eeeee', { call: 'direct', agents: ['plain'] }),
    ];
    const warned = async (provider: string, callMode: string): Promise<string[]> => {
      const file = await fileOf([{ id: 'acme', agents, widgetKeys }]);
      const env = { TENANTS_FILE: file, OPENAI_API_KEY: 'sk-1', CALL_MODE: callMode, UPSTREAM_PROVIDER: provider };
      const { printed } = await listed(env, {});
      return [...printed.matchAll(/^warning: (tools .+)$/gm)].map(([, text = '']) => text);
    };
    const who = 'tools of the server that the agent acme/able has';
    const brought =
      'tools that a create brings along have no address for Switchboard: their url and headers are ignored (acme/dddd)';
    expect(await warned('openai', 'brokered')).toEqual([
      `${who} are not told to it in direct calls, where nobody would answer (acme/bb): set call to brokered`,
      `${who} can be asked for by pages in words of their own (acme/ccc): set dataChannel to none`,
      brought,
    ]);
    expect(await warned('openai-live', 'brokered')).toEqual([
      `${who} are never called: the provider openai-live does not tell Switchboard what an agent asks for`,
      brought,
    ]);
  });

  test('warns of agents without a deployment that transcribes their visitors, where pages cannot do it', async () => {
    const agents = [
      { id: 'plain' },
      { id: 'silent', transcribe: false },
      { id: 'named', transcribe: { model: 'mine' } },
      { id: 'tools', tools: [{ kind: 'server_tool', name: 'look', url: 'https://api.example/look' }] },
    ];
    const key = (id: string, more: object): object => ({
      id,
      key: `w_acme_${id}`,
      origin: `https://${id}.example`,
      ...more,
    });
    const widgetKeys = [
      key('locked', { dataChannel: 'none' }),
      key('usual', {}),
      key('direct', { dataChannel: 'none', call: 'direct' }),
      key('others', { dataChannel: 'none', agents: ['silent', 'named'] }),
      key('revoked', { dataChannel: 'none', revoked: true }),
    ];
    const azure = { UPSTREAM_PROVIDER: 'azure', AZURE_OPENAI_ENDPOINT: 'https://a.example', AZURE_OPENAI_API_KEY: 'k' };
    const warned = async (env: Record<string, string>): Promise<string[]> => {
      const file = await fileOf([{ id: 'acme', agents, widgetKeys }]);
      const { printed } = await listed({ ...env, TENANTS_FILE: file, CALL_MODE: 'brokered' }, {});
      return [...printed.matchAll(/^warning: visitors of the agent (\S+) .+ (\(.+\)): set transcribe\.model/gm)].map(
        ([, agent, keys]) => `${agent} ${keys}`,
      );
    };
    expect(await warned(azure)).toEqual(['acme/plain (acme/locked)', 'acme/tools (acme/locked, acme/usual)']);
    expect(await warned({ UPSTREAM_PROVIDER: 'openai', OPENAI_API_KEY: 'sk-1' })).toEqual([]);
  });

  test('warns of agents that ask for what the provider cannot do, which is an error where they are strict', async () => {
    const tools = [{ kind: 'http_tool', name: 'look_up' }];
    const agents = [{ id: 'able', tools, turns: {}, tellAi: true }, { id: 'plain' }, { id: 'none', tools: [] }];
    const file = await fileOf([{ id: 'acme', agents }]);
    const env = { TENANTS_FILE: file, OPENAI_API_KEY: 'sk-1', CALL_MODE: 'brokered' };
    expect((await listed({ ...env, UPSTREAM_PROVIDER: 'openai-live' }, {})).printed).toMatch(
      /^warning: the provider openai-live cannot do what the agent acme\/able asks for: tools, turns$/m,
    );
    expect((await listed({ ...env, UPSTREAM_PROVIDER: 'openai' }, {})).printed).not.toContain('warning:');
    const strict = [{ id: 'able', tools, strict: true }];
    const complaint = await refuses({
      ...env,
      UPSTREAM_PROVIDER: 'openai-live',
      TENANTS_FILE: await fileOf([{ id: 'acme', agents: strict }]),
    });
    expect(complaint).toContain(
      'agent acme/able: is strict, and asks for what the provider openai-live cannot do: tools',
    );
  });

  test('refuses a tool of the server at an address that the settings do not allow', async () => {
    const tools = [{ kind: 'server_tool', name: 'look_up', url: 'https://api.acme.example:8443/' }];
    const file = await fileOf([{ id: 'acme', agents: [{ id: 'support', tools }] }]);
    const refused = await refuses({ TENANTS_FILE: file });
    expect(refused).toContain('tool look_up of the agent acme/support: has an address that has the port 8443');
    await passes({ TENANTS_FILE: file, OUTBOUND_ALLOW_PORTS: '8443' });
  });

  test('names the secrets that tools send and nobody has set, unless the database could not be read', async () => {
    const headers = { authorization: 'Bearer ${secret:crm}', 'x-shop': '${secret:shop}' };
    const tools = [{ kind: 'server_tool', name: 'look_up', url: 'https://api.acme.example/', headers }];
    const env = {
      TENANTS_FILE: await fileOf([{ id: 'acme', agents: [{ id: 'support', tools }] }]),
    };
    const warnings = async (readDatabase?: CheckTerminal['readDatabase']): Promise<string[]> => {
      return [...(await passes(env, readDatabase)).matchAll(/^warning: the secret (\S+) .*$/gm)].map(([line]) => line);
    };
    const unset = (name: string): string =>
      `warning: the secret ${name} of the tenant acme is not set, so that tools of support fail: set it by "secrets set --tenant acme ${name}"`;
    expect(await warnings()).toEqual([unset('crm'), unset('shop')]);
    const others = [
      { tenantId: 'acme', name: 'crm' },
      { tenantId: 'other', name: 'shop' },
    ];
    expect(await warnings(() => Promise.resolve({ tenants: [], secrets: others, webhooks: [], budgets: [] }))).toEqual([
      unset('shop'),
    ]);
    expect(await warnings(() => Promise.reject(new Unavailable('database', 'it is away')))).toEqual([]);
  });

  test('refuses an address for solved challenges that the guard lets nobody ask', async () => {
    const env = { BOT_PROVIDER: 'turnstile', BOT_SITE_KEY: 'site', BOT_SECRET: 'hunter2' };
    const refused = await refuses({ ...env, BOT_VERIFY_URL: 'http://siteverify.acme.example/' });
    expect(refused).toContain('BOT_VERIFY_URL: must start with https://');
    const own = { ...env, BOT_VERIFY_URL: 'http://siteverify.acme.example/', OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8' };
    const allowed = await passes(own);
    expect(allowed).toContain('bot protection: turnstile');
    expect(allowed).not.toContain('hunter2');
  });

  test('refuses a secret of a key that nothing seals', async () => {
    const bots = { provider: 'turnstile', siteKey: 'site', secret: '${secret:captcha}' };
    const widgetKeys = [{ id: 'www', key: 'w_acme_www', origin: 'https://www.acme.example', bots }];
    const file = await fileOf([{ id: 'acme', admins: ['@acme.example'], widgetKeys }]);
    const refused = await refuses({ ...production, TENANTS_FILE: file });
    expect(refused).toContain('widget key acme/www: has a secret in its bots, and SEALING_KEY');
    const sealed = { ...production, TENANTS_FILE: file, SEALING_KEY: Buffer.alloc(32, 1).toString('base64') };
    const printed = await passes(sealed);
    expect(printed).toContain(
      'warning: the secret captcha of the tenant acme is not set, so that no challenge of the key www counts',
    );
  });

  /** The exit code and the output with these models in PRICES_FILE. */
  async function listed(env: Record<string, string>, models: object) {
    const prices = join(folder, 'prices.json');
    await writeFile(prices, JSON.stringify({ version: 'ours', models }));
    const terminal = fakeTerminal({ CALL_MODE: 'brokered', ...env, PRICES_FILE: prices });
    return { code: await run([], terminal), printed: terminal.printed() };
  }

  test('never prints a secret, wherever it stands', async () => {
    const printed = await passes({
      ...production,
      SERVICE_TOKENS: 'hunter2hunter2hunter2',
      UPSTREAM_BASE_URL: 'https://hunter2@proxy.example.com/v1',
      BOT_PROVIDER: 'http',
      BOT_VERDICT_URL: 'https://bots.example.com/?token=hunter2',
      BOT_VERDICT_TOKEN: 'hunter2',
    });
    expect(printed).not.toContain('hunter2');
    expect(printed).toContain('postgres://***@db.example.com?***');
    expect(printed).toContain('redis://***@one.example.com:6379, redis://***@two.example.com:6379');
    expect(printed).toMatch(/^JWT_SECRET +\(set, hidden\)$/m);
    expect(printed).toContain('its demo keys are not served in production');
  });

  test('tells the problems of the environment and of the tenants file in one go, with exit code 78', async () => {
    const file = await tenantsFile('{"tenants": [{}]}');
    const terminal = fakeTerminal({ PORT: 'x', LOG_LEVEL: 'loud', TENANTS_FILE: file });
    expect(await run([], terminal)).toBe(78);
    expect(terminal.printed()).toBe('');
    for (const text of ['PORT: must be', 'LOG_LEVEL: must be', `${file} (TENANTS_FILE)`, 'tenants[0].id: is missing'])
      expect(terminal.complained()).toContain(text);
  });

  test('in production tells whom everybody who can log in could use, and takes it where each tenant names its admins', async () => {
    const key = { key: 'w_acme_site', origin: 'https://acme.example' };
    const open = { id: 'acme', widgetKeys: [key] };
    const other = { id: 'other', admins: ['@other.example'] };
    const everybody = { ...production, CONSOLE_EMAILS: '*' };
    const TENANTS_FILE = await fileOf([open, other]);
    const refused = fakeTerminal({ ...everybody, TENANTS_FILE });
    expect([await run([], refused), refused.printed()]).toEqual([78, '']);
    expect(refused.complained()).toMatch(/tenant acme: has no admins, and CONSOLE_EMAILS=\* lets everybody log in/);
    expect(refused.complained()).not.toContain('tenant other');
    await passes({ ...production, TENANTS_FILE });
    await fileOf([{ ...open, admins: ['@acme.example'] }, other]);
    const decided = fakeTerminal({ ...everybody, TENANTS_FILE });
    expect([await run([], decided), decided.complained()]).toEqual([0, '']);
  });

  test('tells all that the files and the environment have against each other, as the start does with a database that is away', async () => {
    const brokered = { key: 'w_acme_site', origin: 'https://acme.example', call: 'brokered' };
    const TENANTS_FILE = await fileOf([{ id: 'acme', widgetKeys: [brokered] }]);
    const DATABASE_URL = `postgres://localhost:${await freePort()}/none`;
    const gemini = { UPSTREAM_PROVIDER: 'gemini', GEMINI_API_KEY: 'k' };
    const env = { ...production, ...gemini, CONSOLE_EMAILS: '*', TENANTS_FILE, DATABASE_URL };
    const [checked, started] = [fakeTerminal(env), fakeTerminal(env)];
    expect(await run([], checked)).toBe(78);
    const fault = await startApp(readConfig(env), createLog('silent', false)).catch((reason: unknown) => reason);
    expect(tellFault(fault, started.err)).toBe(78);
    for (const terminal of [checked, started])
      expect(terminal.complained()).toMatch(
        /tenant acme: has no admins[^]*key acme\/[^]*must not ask for brokered calls/,
      );
    expect(started.complained()).toContain('The database cannot be used');
  });

  test('tells brokered calls that the provider does not have, of the environment and of the tenants file', async () => {
    const tenant = { id: 'acme', agents: [{ id: 'support', call: 'brokered' }] };
    const TENANTS_FILE = await fileOf([tenant]);
    for (const [env, name] of [
      [{ CALL_MODE: 'brokered' }, 'CALL_MODE'],
      [{ TENANTS_FILE }, 'agent acme/support'],
    ] as const) {
      const refused = await refuses({ NODE_ENV: 'test', ...env });
      expect(refused).toContain(`${name}: must not ask for brokered calls`);
      const echoed = fakeTerminal({ NODE_ENV: 'development', ...env });
      expect([await run([], echoed), echoed.complained()]).toEqual([0, '']);
    }
  });

  test('tells a tenants file that does not exist', async () => {
    const complaint = await refuses({ TENANTS_FILE: join(folder, 'nowhere.json') });
    expect(complaint).toContain('it does not exist');
  });
});
