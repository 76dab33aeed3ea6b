import { startPostgres } from '../../support/services/postgres.ts';
import { startRedis } from '../../support/services/redis.ts';
import { SiteverifyServer } from '../../support/siteverify-server.ts';
import { acme, site, siteKey, World, type TenantsFile } from '../../support/world.ts';

export interface CampaignOptions {
  readonly creates: number;
  /** How many of the challenges that it gets are solved. */
  readonly solved: number;
}

/** A program that copied the key, and what it pretends to be. */
interface Script {
  readonly name: string;
  readonly challenge: 'suspect' | 'always';
  readonly userAgent: string;
  /** How many addresses it uses. */
  readonly addresses: number;
  /** How many of the key's sessions may be open at once, if that is limited. */
  readonly total?: number;
  /** How many sessions the script may open. */
  readonly most: (options: CampaignOptions) => number;
}

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
/** How many of its creates are in flight at once. */
const AT_ONCE = 64;
/** The key's total of open sessions, which is all that limits clients that are not suspect. From four fifths of it on everyone is suspect. */
const TOTAL = 1000;

const SCRIPTS: readonly Script[] = [
  {
    name: 'a program, from one address',
    challenge: 'suspect',
    userAgent: 'python-requests/2.32.3',
    addresses: 1,
    most: ({ solved }) => solved,
  },
  {
    name: 'a pretended browser, from 10,000 addresses',
    challenge: 'suspect',
    userAgent: BROWSER,
    addresses: 10_000,
    total: TOTAL,
    most: () => TOTAL,
  },
  {
    name: 'a pretended browser, from 10,000 addresses',
    challenge: 'always',
    userAgent: BROWSER,
    addresses: 10_000,
    most: ({ solved }) => solved,
  },
];

interface Outcome {
  readonly script: Script;
  readonly opened: number;
  readonly byCode: ReadonlyMap<string, number>;
  readonly asked: number;
}

/** Lets each script try. @returns a table of what each opened, and those that opened more than they may */
export async function runCampaign(options: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const outcomes: Outcome[] = [];
  for (const script of SCRIPTS) outcomes.push(await attack(script, options));
  const rows = outcomes.map(({ script, opened, byCode, asked }) => {
    const codes = [...byCode].map(([code, count]) => `${count} ${code}`).join(', ');
    return `| ${script.name} | ${script.challenge} | ${options.creates} | ${options.solved} | ${opened} | ${codes} | ${asked} |`;
  });
  const head = [
    '| script | BOT_CHALLENGE | creates | solved | sessions opened | refused | asked of the provider |',
    '|---|---|---|---|---|---|---|',
  ];
  const broken = outcomes
    .filter(({ script, opened }) => opened > script.most(options))
    .map(
      ({ script, opened }) => `${script.name} (${script.challenge}) opened ${opened}, at most ${script.most(options)}`,
    );
  return { text: [...head, ...rows].join('\n'), broken };
}

async function attack(script: Script, options: CampaignOptions): Promise<Outcome> {
  const [database, redis, verify] = await Promise.all([
    startPostgres(),
    startRedis(),
    SiteverifyServer.start('turnstile'),
  ]);
  const world = await World.start(
    {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      TRUST_PROXY: '127.0.0.0/8,::1',
      RATE_IP_PER_MIN: '20000',
      WIDGET_SESSION_PER_MIN: '1000000',
      WIDGET_MAX_CONCURRENT_SESSIONS: '1000000',
      LOG_LEVEL: 'error',
      BOT_PROVIDER: 'turnstile',
      BOT_SITE_KEY: verify.siteKey,
      BOT_SECRET: verify.secret,
      BOT_VERIFY_URL: verify.url,
      BOT_CHALLENGE: script.challenge,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    },
    tenantsOf(script),
  );
  try {
    const nodes = [world.server.origin, (await world.startServer()).origin];
    return await send(script, options, nodes, verify);
  } finally {
    await world.close();
    await Promise.all([verify.close(), redis.stop(), database.stop()]);
  }
}

function tenantsOf({ total }: Script): TenantsFile {
  const key = {
    id: 'site',
    key: siteKey,
    origin: site,
    ...(total !== undefined && { totals: { concurrentSessions: total } }),
  };
  return { tenants: acme.tenants.map((tenant) => ({ ...tenant, widgetKeys: [key] })) };
}

/** Sends all creates: some with a new token, most with one that is used up, is in use on the other node, or is made up. */
async function send(
  script: Script,
  { creates, solved }: CampaignOptions,
  nodes: readonly string[],
  verify: SiteverifyServer,
): Promise<Outcome> {
  const tokens: string[] = [];
  const byCode = new Map<string, number>();
  let opened = 0;
  let left = solved;
  let sent = 0;

  async function create(n: number): Promise<void> {
    const token = n % 10 === 0 ? `made-up-${n}` : tokens[(n >> 1) % Math.max(1, tokens.length)];
    const address = n % script.addresses;
    const response = await fetch(`${nodes[n % nodes.length]}/api/session`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: site,
        'user-agent': script.userAgent,
        'x-forwarded-for': `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
        ...(token !== undefined && { 'x-switchboard-challenge': token }),
      },
      body: JSON.stringify({ widgetKey: siteKey, agentId: 'support', email: `nobody-${n}@example.com` }),
    });
    const { code, challenge } = (await response.json()) as {
      readonly code?: string;
      readonly challenge?: { readonly data: string };
    };
    if (response.status === 200) opened += 1;
    else byCode.set(code ?? '', (byCode.get(code ?? '') ?? 0) + 1);
    if (challenge === undefined || left === 0) return;
    left -= 1;
    const { hostname } = new URL(site);
    tokens.push(verify.solve({ hostname, action: 'voice_session', cdata: challenge.data, atMs: Date.now() }));
  }

  async function work(): Promise<void> {
    while (sent < creates) {
      const n = sent;
      sent += 1;
      await create(n);
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { script, opened, byCode, asked: verify.asked.length };
}
