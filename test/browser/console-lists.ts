/** What the operator API might answer for each list of the console, with as many rows and as long texts as a test wants. */

export interface ListFixture {
  /** Path of the console's page. */
  readonly path: string;
  /** Path of the API that the page reads. */
  readonly api: string;
  readonly body: (count: number, isLong: boolean) => object;
}

/** Always on another day than the test: times then include the date and need the most room. */
const START_MS = Date.now() - 25 * 3_600_000;
const at = (index: number): string => new Date(START_MS - index * 61_000).toISOString();
const hex = (index: number, length: number): string => (index + 10).toString(16).padEnd(length, 'a1b2c3d4e5f6');
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const page = (): object => ({ nextCursor: 'next', asOf: new Date().toISOString(), searchedTo: null });

const LONG_ID = 'a-tenant-whose-name-somebody-made-as-long-as-it-may-be-0123456789';
const LONG_ORIGIN = 'https://a-very-long-subdomain-of-a-customer.shops.eu-central-1.example.co.uk:8443';
const LONG_EMAIL = 'maximiliane.von-der-hohenstaufen+console@subsidiary.of-a-large-company.example';
const LONG_TEXT =
  'The visitor talked for an hour to nobody in particular, and an operator in the other office asked us to end it before noon; see https://tickets.example/browse/VOICE-123456789012345678901234567890';

const session = (index: number, isLong: boolean): object => {
  const ref = `s:${hex(index, 32)}:${hex(index, 7)}`;
  const state = ['engaged', 'idle', 'stale', 'ended'][index % 4];
  return {
    id: `${ref}${hex(index, 15)}`,
    ref,
    state,
    caller: 'widget',
    emailHash: hex(index, 32),
    tenantId: isLong ? LONG_ID : 'demo',
    agentId: isLong ? `agent-${LONG_ID}` : 'guide',
    keyId: isLong ? `key-${LONG_ID}` : 'local',
    provider: 'openai',
    upstreamId: `sess_${index}`,
    endedAt: state === 'ended' ? at(index) : null,
    endReason: state === 'ended' ? 'session_duration_exceeded' : null,
    deadline:
      state === 'ended' ? null : { at: new Date(Date.now() + 600_000).toISOString(), to: 'stale', reason: null },
    session: { startedAt: at(index), lastSeenAt: at(index), durationSec: 3600, idleSec: 3, remainingSec: 600 },
    usage: { tokens: 1234567, dollars: isLong ? 123456.78 : 1.23 },
  };
};

const call = (index: number, isLong: boolean): object => {
  const state = ['creating', 'open', 'closing', 'closed'][index % 4];
  return {
    ref: `call_${hex(index, 22)}`,
    provider: 'openai',
    model: 'gpt-realtime-2.1',
    state,
    providerCallId: `rtc_u1_${hex(index, 32)}`,
    openedAt: state === 'creating' ? null : at(index),
    closingAt: state === 'closing' || state === 'closed' ? at(index - 2) : null,
    closedAt: state === 'closed' ? at(index - 3) : null,
    closeReason: state === 'closed' ? 'session_duration_exceeded' : null,
    hangup: ['unconfirmed', 'confirmed', 'none', 'asked', 'already_over'][index % 5],
    hangupTries: index % 7,
    basis: 'events',
    tokens: {
      textIn: 310,
      textCached: 0,
      textOut: 61,
      audioIn: 742,
      audioCached: 128,
      audioOut: 590,
      imageIn: 0,
      imageCached: 0,
    },
    microDollars: isLong ? 123_456_780_000 : 64_187,
    estimatedMicroDollars: 0,
    gapSec: 0,
    ownerNode: 'node-1',
    session: `s:${hex(index, 32)}:${hex(index, 7)}`,
    tenantId: isLong ? LONG_ID : 'demo',
    keyId: isLong ? `key-${LONG_ID}` : index % 2 === 0 ? 'local' : null,
    agentId: isLong ? `agent-${LONG_ID}` : 'guide',
    createdAt: at(index),
  };
};

const budget = (index: number, isLong: boolean): object => ({
  id: isLong ? `budget-${LONG_ID}`.slice(0, 64) : `budget-${index}`,
  tenantId: index === 0 ? null : isLong ? LONG_ID : 'demo',
  of: index === 0 ? 'installation' : index % 3 === 0 ? 'user' : isLong ? `key:${LONG_ID}` : 'tenant',
  period: ['month', 'once', 'week'][index % 3],
  from: index % 3 === 1 ? '2030-01-31' : null,
  dollars: isLong ? 123_456_789.123456 : 2000,
  tokens: isLong ? 123_456_789_012 : null,
  warnAt: [50, 80, 95],
  then: 'end',
  version: 1,
  madeBy: 'operator',
  isInFile: index % 2 === 0,
  mayChange: index % 4 !== 3,
  changedAt: at(index),
  periodName: ['2030-01', 'once', '2030-W05'][index % 3],
  firstDay: '2030-01-31',
  resetAt: index % 3 === 1 ? null : at(-20_000),
  used: index % 3 === 0 && index > 0 ? null : { tokens: 123_456_789, dollars: 1243.5 },
  percent: index % 3 === 0 && index > 0 ? null : index % 2 === 0 ? 62 : 104,
  projectedAt: index % 2 === 0 ? at(-10_000) : null,
  told: index % 2 === 0 ? [] : [{ account: hex(index, 32), percent: 100, exceededAt: at(index) }],
});

const budgetFact = (index: number): object => ({
  at: at(index),
  code: ['budget.warned', 'budget.exceeded', 'budget.raised'][index % 3],
  tenantId: index === 0 ? null : 'demo',
  id: `budget-${index}`,
  periodName: '2030-01',
  account: hex(index, 32),
  percent: 80,
  used: { tokens: 123_456_789, dollars: 1243.5 },
});

const refusal = (index: number, isLong: boolean): object => ({
  requestId: `req_${hex(index, 9)}`,
  at: at(index),
  code: isLong ? 'CONCURRENT_SESSION_LIMIT_EXCEEDED' : 'ORIGIN_MISMATCH',
  status: 403,
  layer: 'origin',
  route: 'POST /api/session',
  tenantId: isLong ? LONG_ID : 'demo',
  keyId: isLong ? `key-${LONG_ID}` : 'local',
  subject: hex(index, 32),
  origin: LONG_ORIGIN,
  addressHash: hex(index, 16),
  network: isLong ? '2001:0db8:85a3::/48' : '127.0.0.0/24',
  limit: 5,
  count: 5,
  retryAfter: null,
  verdict: null,
  lever: 'origin',
  sentence: `The request came from ${isLong ? LONG_ORIGIN : 'https://evil.example'}, and the key is bound to ${isLong ? LONG_ORIGIN : 'http://localhost:3000'}.`,
  node: 'node-1',
});

const usageRow = (index: number, isLong: boolean): object => ({
  id: isLong ? `${LONG_ID}/key-${index}-${LONG_ID}` : `demo/key-${index}`,
  tenantId: isLong ? LONG_ID : 'demo',
  tokens: 123_456_789,
  dollars: 1234.56,
  share: 1 / (index + 1),
  ceiling: 2000,
  ceilingTokens: isLong ? 987_654_321 : null,
  projected: 2345.67,
  projectedTokens: 200_000_000,
});

const node = (index: number, isLong: boolean): object => ({
  id: `${hex(index, 8)}-node`,
  host: isLong ? `switchboard-production-eu-central-1-7f9c6b5d4-x2x${index}` : `voice-${index}`,
  pid: 12_345,
  version: isLong ? '1.23.4-rc.12+build.20261124' : '0.1.0',
  configHash: index % 2 === 0 ? 'one' : 'other',
  startedAt: at(index),
  // As long ago as a process that is still listed may have been seen.
  seenAt: new Date(Date.now() - 14_000).toISOString(),
  loopP99Ms: isLong ? 999 : 123,
  rss: 1_234_567_890,
  sockets: 12_345,
  historyWaiting: 12_345,
  eventsWaiting: 12_345,
  eventsDropped: index,
  dependencies: (['database', 'registry', 'mail', 'provider'] as const).map((name) => ({
    name,
    state: index === 1 && name === 'mail' ? 'away' : 'ok',
    latencyMs: 1234.5,
    since: at(index),
    lastError: null,
  })),
});

const key = (index: number, isLong: boolean): object => ({
  tenantId: 'demo',
  id: isLong ? `key-${index}-${LONG_ID}` : `key-${index}`,
  key: 'w_demo_key_00000000000000000000000000000000',
  origin: isLong ? LONG_ORIGIN : 'https://shop.example',
  label: '',
  agents: isLong ? ['guide', `agent-${LONG_ID}`, 'concierge'] : null,
  allowOverrides: false,
  call: null,
  dataChannel: null,
  limits: isLong ? { sessionsPerMinute: 10, dailyTokens: 1_000_000, dailyDollars: 20, concurrentSessions: 3 } : {},
  totals: isLong
    ? { sessionsPerMinute: 100, concurrentSessions: 300, tokensDaily: 10_000_000, dollarsDaily: 2000 }
    : {},
  warnings: index % 3 === 0 ? ['overrides', 'no_totals'] : [],
  revokedAt: null,
  pausedAt: index % 4 === 3 ? at(index) : null,
  live: 1234,
  today: { tokens: 123_456, dollars: 1234.5 },
  refusedHour: { ORIGIN_MISMATCH: 12_345 },
  day: { started: 10, refused: 2 },
  weekAgo: { started: 9, refused: 1 },
});

const login = (index: number, isLong: boolean): object => ({
  id: `auth_${hex(index, 22)}`,
  email: isLong ? LONG_EMAIL : `operator${index}@acme.example`,
  createdAt: at(index),
  renewedAt: at(index),
  expiresAt: new Date(Date.now() + 600_000).toISOString(),
  state: index % 2 === 0 ? 'active' : 'destroyed',
  reason: index % 2 === 0 ? null : 'revoked',
  endedAt: index % 2 === 0 ? null : at(index),
  isCurrent: index === 0,
});

const challenge = (index: number): object => ({
  id: hex(index, 22),
  subject: hex(index, 32),
  issuedAt: at(index),
  expiresAt: at(index),
  attempts: 1,
  maxAttempts: 5,
  state: ['pending', 'verified', 'locked', 'expired', 'superseded'][index % 5],
});

const auditRow = (index: number, isLong: boolean): object => ({
  at: at(index),
  actor: isLong ? LONG_EMAIL : 'ann@acme.example',
  role: isLong ? 'tenant_admin' : 'operator',
  action: isLong ? 'session.end' : 'sessions.end',
  target: isLong ? `s:${hex(index, 32)}:${hex(index, 7)}` : 'state=engaged,idle&tenantId=demo',
  tenantId: 'demo',
  reason: isLong ? LONG_TEXT : 'asked to',
  requestId: `req_${hex(index, 9)}`,
  batchId: `batch_${hex(index, 22)}`,
  result: ['done', 'unchanged', 'failed', null][index % 4],
  count: 1234,
});

const secret = (index: number, isLong: boolean): object => ({
  tenantId: 'demo',
  name: isLong ? `the_key_of_the_customer_relations_of_the_whole_company_${index}` : `crm${index}`,
  version: 1234,
  createdAt: at(index),
  createdBy: isLong ? LONG_EMAIL : 'ada@example.com',
  agents: isLong ? ['guide', LONG_TEXT] : ['guide'],
});

const webhook = (index: number, isLong: boolean): object => ({
  id: isLong ? `demo:${index}-${LONG_ID}` : `wh_${hex(index, 22)}`,
  tenantId: index % 2 === 0 ? 'demo' : null,
  url: isLong ? `${LONG_ORIGIN}/${LONG_ID}` : 'https://hooks.acme.example/switchboard',
  types: isLong ? ['session.started', 'session.ended', 'session.settled', 'call.unconfirmed'] : ['session.settled'],
  state: (['healthy', 'failing', 'disabled'] as const)[index % 3],
  failures: index % 5,
  failingSince: index % 3 === 1 ? at(index) : null,
  probeAt: index % 3 === 1 ? new Date(Date.now() + 600_000).toISOString() : null,
  disabledFor: index % 3 === 2 ? 'gone' : null,
  waiting: 123_456,
  createdAt: at(index),
  createdBy: isLong ? LONG_EMAIL : 'ada@example.com',
  version: 1,
});

const setting = (index: number, isLong: boolean): object => ({
  name: isLong ? `UPSTREAM_PROVIDER_MAX_CONCURRENT_SESSIONS_${index}` : `MAX_SESSION_MINUTES_${index}`,
  value: isLong ? `${LONG_ORIGIN},${LONG_ORIGIN},${LONG_EMAIL}` : '60',
  default: isLong ? LONG_ORIGIN : '60',
  isSecret: false,
  isSet: index % 2 === 0,
});

const tenants = [
  { id: 'demo', name: 'Demo', agents: ['guide'], totals: { dollarsDaily: 100 }, maxKeys: 50, admins: 2 },
];

export const LISTS: readonly ListFixture[] = [
  {
    path: '/console/sessions',
    api: 'sessions',
    body: (count, isLong) => ({ ...page(), sessions: times(count, (index) => session(index, isLong)) }),
  },
  {
    path: '/console/calls',
    api: 'calls',
    body: (count, isLong) => ({ ...page(), calls: times(count, (index) => call(index, isLong)) }),
  },
  {
    path: '/console/refusals',
    api: 'refusals',
    body: (count, isLong) => ({
      ...page(),
      refusals: times(count, (index) => refusal(index, isLong)),
      counted: count === 0 ? {} : { ORIGIN_MISMATCH: 1234, CONCURRENT_SESSION_LIMIT_EXCEEDED: 12 },
      kept: count === 0 ? {} : { ORIGIN_MISMATCH: 1234 },
      series: times(count, (index) => ({ at: at(index), count: index })),
      seriesBy: 'minute',
      isCounted: true,
      isPartial: false,
    }),
  },
  {
    path: '/console/usage?by=key',
    api: 'usage',
    body: (count, isLong) => ({
      ...page(),
      rows: times(count, (index) => usageRow(index, isLong)),
      series: times(Math.min(count, 24), (index) => ({ at: at(index), tokens: 1000 * index, dollars: index })),
      total: { tokens: 1000, dollars: count },
      unattributed: { tokens: count, dollars: count / 10 },
    }),
  },
  {
    path: '/console/nodes',
    api: 'nodes',
    body: (count, isLong) => ({
      asOf: new Date().toISOString(),
      nodes: times(count, (index) => node(index, isLong)),
      differs: count > 1 ? ['MAX_SESSION_MINUTES'] : [],
    }),
  },
  {
    path: '/console/keys',
    api: 'keys',
    body: (count, isLong) => ({ tenants, keys: times(count, (index) => key(index, isLong)) }),
  },
  {
    path: '/console/secrets',
    api: 'secrets',
    body: (count, isLong) => ({
      tenants: tenants.map(({ id, name }) => ({ id, name })),
      secrets: times(count, (index) => secret(index, isLong)),
      missing: times(Math.min(count, 7), (index) => ({ tenantId: 'demo', name: `missing${index}`, agents: ['guide'] })),
    }),
  },
  {
    path: '/console/webhooks',
    api: 'webhooks',
    body: (count, isLong) => ({ tenants, types: [], webhooks: times(count, (index) => webhook(index, isLong)) }),
  },
  {
    path: '/console/budgets',
    api: 'budgets',
    body: (count, isLong) => ({
      asOf: new Date().toISOString(),
      tenants: [],
      facts: times(Math.min(count, 50), budgetFact),
      budgets: times(count, (index) => budget(index, isLong)),
    }),
  },
  {
    path: '/console/logins',
    api: 'logins',
    body: (count, isLong) => ({ ...page(), logins: times(count, (index) => login(index, isLong)) }),
  },
  {
    path: '/console/challenges',
    api: 'challenges',
    body: (count) => ({ ...page(), challenges: times(count, challenge) }),
  },
  {
    path: '/console/audit',
    api: 'audit',
    body: (count, isLong) => ({ ...page(), rows: times(count, (index) => auditRow(index, isLong)) }),
  },
  {
    path: '/console/settings',
    api: 'settings',
    body: (count, isLong) => ({ settings: times(count, (index) => setting(index, isLong)), nodes: [], differs: [] }),
  },
  {
    path: '/console/your-logins',
    api: '../auth/logins',
    body: (count, isLong) => ({ ok: true, logins: times(count, (index) => login(index, isLong)) }),
  },
];
