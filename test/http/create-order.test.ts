import { expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { UpstreamFault } from '../../src/upstream/contract.ts';
import { somebody } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { whyRefused } from './app.ts';

const { build } = useApps();

/** A widget's create: what its page sends, and what is known about its key and its caller. */
interface Create {
  readonly key: WidgetKey;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly isBot: boolean;
}

type Change = (create: Create) => Partial<Create>;

const ofKey =
  (changes: Partial<WidgetKey>): Change =>
  ({ key }) => ({ key: { ...key, ...changes } });
const limit =
  (limits: WidgetKey['limits']): Change =>
  ({ key }) => ({ key: { ...key, limits: { ...key.limits, ...limits } } });
const total =
  (totals: WidgetKey['totals']): Change =>
  ({ key }) => ({ key: { ...key, totals: { ...key.totals, ...totals } } });
const send =
  (fields: object): Change =>
  ({ body }) => ({ body: { ...body, ...fields } });
const sendHeaders =
  (fields: Record<string, string>): Change =>
  ({ headers }) => ({ headers: { ...headers, ...fields } });

/** All reasons to refuse a create, each winning over those below it: the sentence that operators read, how to cause it and how to mend it. */
const reasons: readonly (readonly [sentence: string, spoil: Change, mend: Change])[] = [
  ['The widget key k was refused: the key is revoked.', ofKey({ revokedAtMs: 1 }), ofKey({ revokedAtMs: null })],
  [
    "The widget key k was refused: another tenant's was named.",
    send({ tenantId: 'globex' }),
    send({ tenantId: undefined }),
  ],
  [
    'The request came from https://else.example, and the key is bound to https://k.example (origin).',
    sendHeaders({ origin: 'https://else.example' }),
    sendHeaders({ origin: 'https://k.example' }),
  ],
  ['The widget key k was paused, and opens no new sessions.', ofKey({ pausedAtMs: 1 }), ofKey({ pausedAtMs: null })],
  [
    'The request was malformed: a field, a parameter or a header is wrong (UPSTREAM_PROVIDER).',
    send({ tools: [tool()] }),
    send({ tools: undefined }),
  ],
  ['The widget key allows the agents support only (agents).', send({ agentId: 'sales' }), send({ agentId: 'support' })],
  [
    'The widget key leaves all to its agent, and the request overrode model (allowOverrides).',
    send({ model: 'other' }),
    send({ model: undefined }),
  ],
  [
    'The request was malformed: a field, a parameter or a header is wrong.',
    sendHeaders({ 'idempotency-key': 'short' }),
    sendHeaders({ 'idempotency-key': 'long-enough-to-be-kept' }),
  ],
  ['The caller was judged a bot (http 0.9) (BOT_PROVIDER).', () => ({ isBot: true }), () => ({ isBot: false })],
  [
    'More than 0 sessions in one minute (limits.sessionsPerMinute)',
    limit({ sessionsPerMinute: 0 }),
    limit({ sessionsPerMinute: 99 }),
  ],
  [
    'More than 0 sessions of the whole key in one minute (totals.sessionsPerMinute)',
    total({ sessionsPerMinute: 0 }),
    total({ sessionsPerMinute: 99 }),
  ],
  [
    "0 tokens of the day's 0 tokens were used (limits.dailyTokens).",
    limit({ dailyTokens: 0 }),
    limit({ dailyTokens: 99 }),
  ],
  [
    "0 tokens of the day's 0 tokens were used (totals.tokensDaily).",
    total({ tokensDaily: 0 }),
    total({ tokensDaily: 99 }),
  ],
  [
    '0 sessions were open already (limits.concurrentSessions).',
    limit({ concurrentSessions: 0 }),
    limit({ concurrentSessions: 1 }),
  ],
  [
    '0 sessions were open already (totals.concurrentSessions).',
    total({ concurrentSessions: 0 }),
    total({ concurrentSessions: 1 }),
  ],
];

function tool(): object {
  return { kind: 'http_tool', name: 'find', description: 'Finds', url: 'https://acme.example/hook' };
}

test('Of several reasons to refuse a create the first one wins, and a refused create has taken nothing that comes after it', async () => {
  const provider = new FakeProvider();
  provider.capabilities = { ...provider.capabilities, tools: false };
  let isBot = true;
  const app = await build({
    provider,
    bots: { assess: () => ({ provider: 'http', isBot, isVerifiedBot: false, confidence: 0.9 }) },
  });
  const key = await app.key({ id: 'k', origin: 'https://k.example', agents: ['support'], allowOverrides: false });
  const { tenant } = app.service.directory.keyOf(key.key) ?? {};
  if (tenant === undefined) throw new Error('the tenant is missing');
  let create: Create = { key, body: { email: somebody() }, headers: {}, isBot: false };
  for (const [, spoil] of reasons) create = { ...create, ...spoil(create) };

  const post = () => {
    ({ isBot } = create);
    const present = { ...tenant, keys: [create.key] };
    app.service.directory.keyOf = () => ({ key: create.key, tenant: present });
    app.service.directory.tenant = () => present;
    return app.create(key, create.body, create.headers);
  };
  const said: (string | undefined)[] = [];
  for (const [, , mend] of reasons) {
    said.push((await whyRefused(app, await post()))?.replace(/; the caller was told to wait \d+ s\.$/, ''));
    create = { ...create, ...mend(create) };
  }
  expect(said).toEqual(reasons.map(([sentence]) => sentence));

  const { answer } = provider;
  provider.answer = () => Promise.reject(new UpstreamFault('timeout', 'late'));
  expect((await post()).body['code']).toBe('UPSTREAM_TIMEOUT');
  provider.answer = answer;
  // None of the refusals kept the only slot.
  expect((await post()).status).toBe(200);
});
