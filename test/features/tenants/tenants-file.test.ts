import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  parseTenantsFile,
  readTenantsDocument,
  readTenantsFile,
  TenantsFileError,
} from '../../../src/tenants/tenants-file.ts';

const atMs = 1_700_000_000_000;

function problemsOf(content: unknown): string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  try {
    parseTenantsFile(text, 'tenants.json', atMs);
  } catch (error) {
    if (error instanceof TenantsFileError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const key = { key: 'w_acme_site_4f1c', origin: 'https://www.acme.example' };

function withKey(more: object): object {
  return { tenants: [{ id: 'acme', widgetKeys: [{ ...key, ...more }] }] };
}

function withAgent(more: object): object {
  return { tenants: [{ id: 'acme', agents: [{ id: 'support', ...more }] }] };
}

function withTool(more: object): object {
  return withAgent({ tools: [{ kind: 'http_tool', name: 'look_up', ...more }] });
}

describe('A tenants file', () => {
  test('needs only tenant ids, keys and origins; everything else has a default', () => {
    expect(parseTenantsFile(JSON.stringify(withKey({})), 'tenants.json', atMs)).toEqual([
      {
        id: 'acme',
        name: 'acme',
        agents: [],
        admins: null,
        keys: [
          {
            id: 'w_acme_site_4f1c',
            tenantId: 'acme',
            key: 'w_acme_site_4f1c',
            origin: 'https://www.acme.example',
            label: '',
            agents: null,
            allowOverrides: true,
            call: null,
            dataChannel: null,
            limits: {},
            totals: {},
            pausedAtMs: null,
            revokedAtMs: null,
          },
        ],
      },
    ]);
  });

  test('tells what is wrong with webhooks: types that nobody is told, ids that come twice, more than ten', () => {
    const webhook = { id: 'billing', url: 'https://hooks.acme.example/', types: ['session.settled'] };
    const problemsOf = (webhooks: readonly unknown[]): string => {
      try {
        parseTenantsFile(JSON.stringify({ tenants: [{ id: 'acme', webhooks }] }), 'tenants.json', atMs);
        return '';
      } catch (error) {
        return (error as TenantsFileError).message;
      }
    };
    expect(problemsOf([webhook])).toBe('');
    expect(problemsOf([{ ...webhook, types: ['session.begun'] }])).toContain(
      'tenants[0].webhooks[0].types[0]: must be one of session.started',
    );
    expect(problemsOf([{ ...webhook, types: [] }])).toContain('must name a type');
    expect(problemsOf([webhook, webhook])).toContain('tenants[0].webhooks[1].id: is the same webhook id as');
    expect(problemsOf([{ ...webhook, secret: 'x' }])).toContain('secret');
    expect(problemsOf(Array.from({ length: 11 }, (_, n) => ({ ...webhook, id: `w${n}` })))).toContain('at most 10');
  });

  test('takes everything that the contract shows', () => {
    const tool = {
      kind: 'http_tool',
      name: 'look_up',
      url: 'https://api.acme.example',
      parameters: { type: 'object' },
    };
    const agent = { id: 'support', model: 'gpt-realtime-2.1', voice: 'marin', instructions: 'Help.', tools: [tool] };
    const limits = {
      sessionsPerMinute: 1,
      dailyTokens: 2,
      dailyDollars: 0.000001,
      concurrentSessions: 50,
      newVisitorSeconds: 10,
    };
    const totals = { sessionsPerMinute: 1, concurrentSessions: 50, tokensDaily: 2, dollarsDaily: 0.000001 };
    const full = {
      ...key,
      id: 'site',
      label: 'Site',
      revoked: false,
      agents: ['support'],
      allowOverrides: false,
      limits,
      totals,
    };
    const webhook = { id: 'billing', url: 'https://hooks.acme.example/', types: ['session.settled'] };
    const tenants = [
      {
        id: 'acme',
        name: 'Acme',
        widgetKeys: [full],
        agents: [agent],
        totals,
        maxKeys: 9,
        webhooks: [webhook],
        admins: ['Ops@Acme.example', '@acme.org'],
      },
    ];
    const [tenant] = parseTenantsFile(JSON.stringify({ tenants }), 'tenants.json', atMs);
    expect(tenant).toMatchObject({
      name: 'Acme',
      agents: [agent],
      totals,
      maxKeys: 9,
      webhooks: [{ ...webhook, createdAtMs: atMs }],
      admins: ['ops@acme.example', '@acme.org'],
    });
    expect(tenant?.keys[0]).toMatchObject({ id: 'site', agents: ['support'], allowOverrides: false, limits, totals });
  });

  test('revokes a key at the time of the merge', () => {
    const [tenant] = parseTenantsFile(JSON.stringify(withKey({ revoked: true })), 'tenants.json', atMs);
    expect(tenant?.keys[0]?.revokedAtMs).toBe(atMs);
  });

  test('may begin with the byte order mark that some editors write', () => {
    expect(parseTenantsFile('\uFEFF{"tenants": []}', 'tenants.json', atMs)).toEqual([]);
  });

  test.each<[string, object | string, string]>([
    ['a list at the top', [], ': must be an object with a list of tenants'],
    ['no tenants', {}, 'tenants: is missing'],
    ['an unknown field at the top', { tenants: [], tenant: 1 }, 'tenant: is not a known field; did you mean tenants?'],
    ['a tenant that is a text', { tenants: ['acme'] }, 'tenants[0]: must be an object with id and widgetKeys'],
    ['a tenant without id', { tenants: [{}] }, 'tenants[0].id: is missing'],
    [
      'a tenant id with a colon',
      { tenants: [{ id: 'a:b' }] },
      'tenants[0].id: must be 1 to 64 letters, digits, dots, hyphens and underscores',
    ],
    [
      'two tenants of one id',
      { tenants: [{ id: 'a' }, { id: 'a' }] },
      'tenants[1].id: is the same tenant id as tenants[0].id',
    ],
    [
      'a misspelled field',
      withKey({ revokd: true }),
      'tenants[0].widgetKeys[0].revokd: is not a known field; did you mean revoked?',
    ],
    ['a wrong type', withKey({ revoked: 'yes' }), 'tenants[0].widgetKeys[0].revoked: must be true or false'],
    [
      'a key without its prefix',
      withKey({ key: 'acme_site' }),
      'tenants[0].widgetKeys[0].key: must start with w_ and be at most 200 letters, digits, hyphens and underscores',
    ],
    [
      'a key that is too long',
      withKey({ key: `w_${'a'.repeat(199)}` }),
      'tenants[0].widgetKeys[0].key: must start with w_ and be at most 200 letters, digits, hyphens and underscores',
    ],
    [
      'words of visitors that nobody hears',
      withKey({ call: 'direct', limits: { newVisitorSeconds: 60 } }),
      'tenants[0].widgetKeys[0].limits.newVisitorSeconds: must be left out: direct calls are not heard; set call to brokered',
    ],
    [
      'a time in which nobody can begin to speak',
      withKey({ limits: { newVisitorSeconds: 5 } }),
      'tenants[0].widgetKeys[0].limits.newVisitorSeconds: must be at least 10 seconds, in which a visitor can begin to speak',
    ],
    [
      'a wildcard origin',
      withKey({ origin: 'https://*.acme.example' }),
      'tenants[0].widgetKeys[0].origin: must be one exact origin: wildcards are not supported, use a key for each origin',
    ],
    [
      'an origin with a path',
      withKey({ origin: 'https://WWW.acme.example:443/chat' }),
      'tenants[0].widgetKeys[0].origin: must be an exact origin, as browsers send it: https://www.acme.example',
    ],
    [
      'an origin with a trailing slash',
      withKey({ origin: 'https://www.acme.example/' }),
      'tenants[0].widgetKeys[0].origin: must be an exact origin, as browsers send it: https://www.acme.example',
    ],
    [
      'an origin without a scheme',
      withKey({ origin: 'www.acme.example' }),
      'tenants[0].widgetKeys[0].origin: must be an exact origin, such as https://www.example.com',
    ],
    [
      'the opaque origin',
      withKey({ origin: 'null' }),
      'tenants[0].widgetKeys[0].origin: must be an exact origin, such as https://www.example.com',
    ],
    [
      'a pin to no agent',
      withKey({ agents: [] }),
      'tenants[0].widgetKeys[0].agents: must name an agent; leave it out to allow any',
    ],
    [
      'a pin to an agent of nobody',
      withKey({ agents: ['sales'] }),
      'tenants[0].widgetKeys[0].agents[0]: "sales" is not an agent of this tenant',
    ],
    [
      'a negative limit',
      withKey({ limits: { concurrentSessions: -1 } }),
      'tenants[0].widgetKeys[0].limits.concurrentSessions: must be a whole number from 0 to 1000000',
    ],
    [
      'a seventh decimal',
      withKey({ limits: { dailyDollars: 0.0000001 } }),
      'tenants[0].widgetKeys[0].limits.dailyDollars: must have at most 6 decimals',
    ],
    [
      'an unknown limit',
      withKey({ limits: { minutes: 1 } }),
      'tenants[0].widgetKeys[0].limits.minutes: is not a known field; known are sessionsPerMinute, dailyTokens, dailyDollars, concurrentSessions, newVisitorSeconds',
    ],
    [
      'a negative total',
      withKey({ totals: { sessionsPerMinute: -1 } }),
      'tenants[0].widgetKeys[0].totals.sessionsPerMinute: must be a whole number from 0 to 1000000',
    ],
    [
      "a total by a limit's name",
      withKey({ totals: { dailyTokens: 1 } }),
      'tenants[0].widgetKeys[0].totals.dailyTokens: is not a known field; known are sessionsPerMinute, concurrentSessions, tokensDaily, dollarsDaily',
    ],
    [
      'instructions above 32 KiB in UTF-8',
      withAgent({ instructions: 'é'.repeat(16_385) }),
      'tenants[0].agents[0].instructions: must be at most 32 KiB (as UTF-8)',
    ],
    [
      '129 tools',
      withAgent({ tools: Array.from({ length: 129 }, (_, index) => ({ kind: 'http_tool', name: `t${index}` })) }),
      'tenants[0].agents[0].tools: must be at most 128 tools',
    ],
    [
      'a tool name with a space',
      withTool({ name: 'look up' }),
      'tenants[0].agents[0].tools[0].name: must be a tool name: 1 to 64 letters, digits, hyphens and underscores',
    ],
    ['a tool without kind', withTool({ kind: undefined }), 'tenants[0].agents[0].tools[0].kind: is missing'],
    [
      'an administrator without @',
      { tenants: [{ id: 'acme', admins: ['ops'] }] },
      'tenants[0].admins[0]: must be an e-mail address or a @domain',
    ],
    [
      'an administrator with a wildcard, which would match nobody',
      { tenants: [{ id: 'acme', admins: ['*@acme.example'] }] },
      'tenants[0].admins[0]: must be an e-mail address or a @domain',
    ],
    [
      'a character that PostgreSQL can not store',
      withTool({ hint: ['\u0000'] }),
      'tenants[0].agents[0].tools[0].hint[0]: holds a character that can not be stored',
    ],
  ])('with %s is refused, and told where', (_, content, problem) => {
    expect(problemsOf(content)).toEqual([problem]);
  });

  test('tells names that are used twice, in whatever form', () => {
    const widgetKeys = [
      { ...key, id: 'one' },
      { ...key, key: 'w_two', id: 'one' },
      { ...key, id: 'three' },
      { ...key, key: 'w_four', id: 'w_five' },
      { ...key, key: 'w_five' },
    ];
    const agents = [{ id: 'a' }, { id: 'a' }];
    expect(problemsOf({ tenants: [{ id: 'acme', widgetKeys, agents }] })).toEqual([
      'tenants[0].agents[1].id: is the same agent id as tenants[0].agents[0].id',
      'tenants[0].widgetKeys[1].id: is the same key id as tenants[0].widgetKeys[0].id',
      'tenants[0].widgetKeys[2].key: is the same key as tenants[0].widgetKeys[0].key',
      'tenants[0].widgetKeys[4].id: is the same key id as tenants[0].widgetKeys[3].id',
    ]);
  });

  test('may use one key id in two tenants, but never one key', () => {
    const tenant = (id: string) => ({ id, widgetKeys: [{ ...key, id: 'site' }] });
    expect(problemsOf({ tenants: [tenant('a'), tenant('b')] })).toEqual([
      'tenants[1].widgetKeys[0].key: is the same key as tenants[0].widgetKeys[0].key',
    ]);
  });

  test('has all its problems told at once, clashes beside wrong fields', () => {
    const tenants = [
      { id: 'acme', nmae: 'Acme', widgetKeys: [{ ...key, origin: '*', agents: ['ghost'] }] },
      { id: 'acme', admins: 'everybody' },
    ];
    expect(problemsOf({ tenants }).sort()).toEqual([
      'tenants[0].nmae: is not a known field; did you mean name?',
      'tenants[0].widgetKeys[0].agents[0]: "ghost" is not an agent of this tenant',
      'tenants[0].widgetKeys[0].origin: must be one exact origin: wildcards are not supported, use a key for each origin',
      'tenants[1].admins: must be a list of e-mail addresses',
      'tenants[1].id: is the same tenant id as tenants[0].id',
    ]);
  });

  test('names itself and every problem in the message', () => {
    const read = () => parseTenantsFile('{"tenants": [{"id": 1}, {}]}', 'conf/t.json', atMs);
    expect(read).toThrow('The tenants file conf/t.json (TENANTS_FILE) cannot be used:');
    expect(read).toThrow('  tenants[1].id: is missing');
  });

  test('that does not exist says what to do', async () => {
    const error = await readTenantsFile('/nowhere/tenants.json', atMs).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(TenantsFileError);
    expect(String(error)).toContain('it does not exist. Set TENANTS_FILE to your file, or create this one');
  });
});

test.each([
  ['{\n  "tenants": [],\n}', /not valid JSON: .* at line 3, column 1$/],
  ['{"a": 1 "b": 2}', /not valid JSON: .* at line 1, column 9$/],
  ['\uFEFF{"a": {}}}', /not valid JSON: .* at line 1, column 10$/],
  ['{"tenants": [1,]}', /not valid JSON: .*\]/],
  ['{"tenants": [', /not valid JSON: .*end/],
])('A JSON mistake is told with the place or the text where it is: %j', (text, message) => {
  expect(problemsOf(text)).toEqual([expect.stringMatching(message)]);
});

describe('Budgets of a tenants file', () => {
  const budget = { id: 'march', of: 'tenant', period: 'month', dollars: 2000 };
  const acme = {
    id: 'acme',
    agents: [{ id: 'support' }],
    widgetKeys: [{ id: 'site', key: 'w_1', origin: 'https://a.example' }],
  };

  test('are those of the installation and of each tenant, with what is not said by default', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenants-'));
    const file = join(folder, 'tenants.json');
    const all = { ...budget, id: 'all', of: 'installation', tokens: 5, dollars: null };
    const budgets = [
      budget,
      { ...budget, id: 'key', of: 'key:site', period: 'once', from: '2030-01-31', then: 'tell' },
    ];
    await writeFile(file, JSON.stringify({ budgets: [all], tenants: [{ ...acme, budgets }] }));
    const read = await readTenantsDocument(file, 7);
    await rm(folder, { recursive: true });
    const usual = {
      from: null,
      tokens: null,
      microMinutes: null,
      warnAt: [80, 95],
      atLimit: 'end',
      madeBy: null,
      changedAtMs: 7,
      tell: null,
    };
    expect(read.budgets).toEqual([
      { ...usual, id: 'all', of: 'installation', period: 'month', tenantId: null, microDollars: null, tokens: 5 },
      { ...usual, id: 'march', of: 'tenant', period: 'month', tenantId: 'acme', microDollars: 2e9 },
      {
        ...usual,
        id: 'key',
        of: 'key:site',
        period: 'once',
        from: '2030-01-31',
        tenantId: 'acme',
        microDollars: 2e9,
        atLimit: 'tell',
      },
    ]);
  });

  test.each([
    ['tenants[0].budgets[0].dollars: must be more than 0', { dollars: 0 }],
    ['tenants[0].budgets[0].dollars: must be set, or tokens or minutes must', { dollars: null }],
    ['tenants[0].budgets[0].of: "shop" is not a key of this tenant', { of: 'key:shop' }],
    ['tenants[0].budgets[0].of: "sales" is not an agent of this tenant', { of: 'agent:sales' }],
    ['tenants[0].budgets[0].of: must not be installation', { of: 'installation' }],
    ['tenants[0].budgets[0].dolars: is not a known field; did you mean dollars?', { dolars: 1 }],
    ['tenants[0].budgets[0].from: must be left out', { from: '2030-01-01' }],
  ])('that cannot be are told of: %s', (problem, fields) => {
    const file = { tenants: [{ ...acme, budgets: [{ ...budget, ...fields }] }] };
    expect(() => parseTenantsFile(JSON.stringify(file), 'tenants.json', 0)).toThrow(problem);
  });

  test('that are there twice, or are of no installation, are told of', () => {
    const file = { budgets: [budget], tenants: [{ ...acme, budgets: [budget, budget] }] };
    const read = () => parseTenantsFile(JSON.stringify(file), 'tenants.json', 0);
    expect(read).toThrow('tenants[0].budgets[1].id: is the same budget id as tenants[0].budgets[0].id');
    expect(read).toThrow('budgets[0].of: must be installation, or be a budget of a tenant');
  });
});
