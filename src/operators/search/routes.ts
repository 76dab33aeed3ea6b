import { seesWholeIds, mayDo, seesTenant, tenantsOf, type Operator } from '../roles.ts';
import { parseEmail } from '../../protocol/email.ts';
import { searchReply, searchRequest, type SearchHit } from '../../protocol/operator/search.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import { actBy, operatorRoute } from '../operator-route.ts';
import { act } from '../journal/acts.ts';
import type { Services } from '../../http/services.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import { loginName } from '../../protocol/login.ts';
import { sessionName } from '../../protocol/session.ts';
import { ACT_ACTIONS } from '../../stores/journal/act-contract.ts';
import type { HistoryRow } from '../../stores/voice-history/contract.ts';

const MAX_HITS = 20;

export function searchRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/search',
    operationId: 'search',
    summary: 'Find what an id, a name or an e-mail address stands for',
    description:
      'Recognised by form: the id or ref of a session, req_…, auth_…, sess_…, call_…, batch_…, and 6 or more digits of a hash; then names of keys, tenants and actions. Only operators and service tokens can search for an e-mail address; the audit records that search by the hash of the address.',
    perOperator: { name: 'search', perMinute: 20, concerns: (body) => isAddress((body as { q: string }).q) },
    body: searchRequest,
    bodyExample: { q: sample.sm_session_id.slice(0, 42) },
    reply: {
      description: 'What was found, at most 20',
      schema: searchReply,
      example: {
        hits: [
          {
            kind: 'session',
            id: sample.sm_session_id.slice(0, 42),
            label: 'acme/support 7f3a…, engaged, 2030-01-01T12:00:00.000Z',
            href: `/console/sessions/${encodeURIComponent(sample.sm_session_id.slice(0, 42))}`,
          },
        ],
      },
    },
    handle: async (call) => {
      const { q } = call.body;
      if (!isAddress(q)) return { hits: await findByShape(q, call.operator, services) };
      if (!seesWholeIds(call.operator))
        return new Refusal('FORBIDDEN', 'An address is looked for by operators (OPERATOR_EMAILS) alone.');
      const address = parseEmail(q);
      if (address === undefined) return { hits: [] };
      const target = services.identity.subjects.console(address);
      const hits = await act({ action: 'search.address', target, tenantId: null }, actBy(call), services, () =>
        findByAddress(address, services),
      );
      return { hits };
    },
  });
}

/** Anything with an @ counts as an address, even if incomplete, so that nobody can guess who may log in. */
function isAddress(q: string): boolean {
  return q.includes('@');
}

interface Finder {
  /** The texts that this finder handles; a text that matches none is searched for among names. */
  readonly shape: RegExp;
  find(q: string, operator: Operator, services: Services): Promise<SearchHit[]>;
}

const finders: readonly Finder[] = [
  { shape: sessionName, find: sessionsBeginning },
  {
    shape: /^[0-9a-f]{6,32}$/,
    find: async (q, operator, services) => [
      ...(await sessionsBeginning(q.length === 32 ? `s:${q}:` : `s:${q}`, operator, services)),
      ...namesLike(q, operator, services),
    ],
  },
  {
    shape: /^req_[\w-]+$/,
    async find(q, operator, { core }) {
      const { journal, history } = core.stores;
      const refs = await journal.actorsOf('voice-session', q, MAX_HITS);
      const found = await Promise.all(
        refs.map((idPrefix) => history.list({ idPrefix, tenants: tenantsOf(operator) }, undefined, 1)),
      );
      const href = `/console/refusals/${encodeURIComponent(q)}`;
      const request: SearchHit = { kind: 'request', id: q, label: 'What was refused under this id', href };
      return [...found.flatMap(({ rows }) => rows).map(sessionHit), request];
    },
  },
  {
    shape: loginName,
    async find(q, { role }, { core }) {
      const login = mayDo(role, 'see-installation') ? await core.stores.logins.load(q) : undefined;
      return login === undefined ? [] : [loginHit(login)];
    },
  },
  {
    shape: /^sess_[\w-]+$/,
    find: async (q, operator, { core }) =>
      (await core.stores.history.ofUpstream(q, MAX_HITS))
        .filter(({ record }) => seesTenant(operator, record.tenantId))
        .map(sessionHit),
  },
  {
    shape: /^call_[\w-]{22}$/,
    async find(q, operator, { core }) {
      const call = await core.stores.calls.load(q);
      return call !== undefined && seesTenant(operator, call.tenantId) ? [callHit(call)] : [];
    },
  },
  {
    shape: /^batch_[\w-]{22}$/,
    find: async (q) => [auditHit(q, 'What was changed together', 'batchId')],
  },
];

/** Finds what a text other than an address stands for, among what the operator sees. @throws Unavailable when the database is away */
async function findByShape(q: string, operator: Operator, services: Services): Promise<SearchHit[]> {
  const finder = finders.find(({ shape }) => shape.test(q));
  const hits = finder === undefined ? namesLike(q, operator, services) : await finder.find(q, operator, services);
  return hits.slice(0, MAX_HITS);
}

/** What an address did as an operator, its sessions and its logins; the hits do not contain the address. @throws Unavailable when the database is away */
async function findByAddress(address: string, services: Services): Promise<SearchHit[]> {
  const { subjects } = services.identity;
  const { history, journal, logins: loginStore } = services.core.stores;
  const ofTenants = services.tenants.all().map(({ id }) => subjects.widgetUser(id, address));
  const [actors, sessions, logins] = await Promise.all([
    journal.whoActed(),
    history.newestOf([subjects.console(address), ...ofTenants], MAX_HITS),
    loginStore.ofEmail(address, MAX_HITS),
  ]);
  const acts = actors.includes(address)
    ? [auditHit(subjects.actor(address), 'What they did as an operator', 'actorRef')]
    : [];
  return [...acts, ...sessions.map(sessionHit), ...logins.map(loginHit)].slice(0, MAX_HITS);
}

async function sessionsBeginning(idPrefix: string, operator: Operator, { core }: Services): Promise<SearchHit[]> {
  const { rows } = await core.stores.history.list({ idPrefix, tenants: tenantsOf(operator) }, undefined, MAX_HITS);
  return rows.map(sessionHit);
}

/** Tenants, keys and actions whose names contain the text. */
function namesLike(q: string, operator: Operator, { tenants: directory }: Services): SearchHit[] {
  const wanted = q.toLowerCase();
  const isLike = (...names: string[]): boolean => names.some((name) => name.toLowerCase().includes(wanted));
  const tenants = directory.all().filter(({ id }) => seesTenant(operator, id));
  return [
    ...tenants
      .filter(({ id, name }) => isLike(id, name))
      .map(({ id, name }): SearchHit => {
        const href = `/console/sessions?tenantId=${encodeURIComponent(id)}`;
        return { kind: 'tenant', id, label: name, href };
      }),
    ...tenants
      .flatMap(({ keys }) => keys)
      .filter(({ id, key, label, origin }) => isLike(id, key, label, origin))
      .map(({ id, tenantId, origin }): SearchHit => {
        const href = `/console/keys/${encodeURIComponent(tenantId)}/${encodeURIComponent(id)}`;
        return { kind: 'key', id: `${tenantId}/${id}`, label: origin, href };
      }),
    ...ACT_ACTIONS.filter((action) => isLike(action)).map((action) => auditHit(action, 'Audit', 'action')),
  ];
}

function sessionHit({ record, state }: Pick<HistoryRow, 'record' | 'state'>): SearchHit {
  const { id, tenantId, agentId, subject, startedAtMs } = record;
  const ref = refOf(id);
  const whose = agentId === null ? tenantId : `${tenantId}/${agentId}`;
  const label = `${whose} ${subject.slice(0, 4)}…, ${state}, ${iso(startedAtMs)}`;
  return { kind: 'session', id: ref, label, href: `/console/sessions/${ref}` };
}

function callHit({ id, tenantId, state, createdAtMs }: CallRecord): SearchHit {
  const label = `Call of ${tenantId}, ${state}, ${iso(createdAtMs)}`;
  return { kind: 'call', id, label, href: `/console/calls/${encodeURIComponent(id)}` };
}

function loginHit({ id, createdAtMs }: { readonly id: string; readonly createdAtMs: number }): SearchHit {
  const label = `Login of ${iso(createdAtMs)}`;
  return { kind: 'login', id, label, href: `/console/logins/${encodeURIComponent(id)}` };
}

function auditHit(id: string, label: string, field: string): SearchHit {
  return { kind: 'audit', id, label, href: `/console/audit?${field}=${encodeURIComponent(id)}` };
}
