import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mayDo, type OperatorRole } from '../../src/operators/roles.ts';
import type { Route } from '../../src/http/route.ts';
import { SERVICE_TOKEN, type Reply } from '../support/app.ts';
import { DAY } from '../support/clock.ts';
import { errorOf } from './app.ts';
import type { OperatorRequest, OperatorWorld } from './operator-world.ts';
import { HIDDEN, invalidBodies, invalidQueries, tooBroad } from './refused-values.ts';

const INVALID = { status: 400, code: 'INVALID_REQUEST' };

/** Queries by which each list is read page by page; by default one without a filter. */
const readBy: Readonly<Record<string, readonly string[]>> = {
  '/api/operator/sessions': ['', 'sort=startedAt', 'sort=-endedAt', 'sort=deadline&endingWithinSec=3600'],
  '/api/operator/sessions/{id}/events': ['', 'about=session,call,usage,tool,warning,webhook,operator,refusal'],
  '/api/operator/usage': ['by=subject', 'by=key', 'by=tenant', 'by=session'],
};

/** Routes that take a tenant and show nothing by which it could be known. */
const anonymous: ReadonlySet<string> = new Set(['/api/operator/activity', '/api/operator/stop']);

/** Replies to an unknown tenant in a body other than NOT_FOUND. */
const ofUnknownTenant: Readonly<Record<string, object>> = { 'POST /api/operator/keys': INVALID };

/**
 * Declares the tests of what every route of the operator API promises, as far as it concerns this one: who may ask, which bodies, queries and
 * cursors are refused, how a list is read page by page, what is hidden from whom, and what changes nothing.
 * @param world is there once the tests run
 */
export function describeRoute(route: Route, world: () => OperatorWorld): void {
  describe(`${route.method} ${route.path}`, () => {
    beforeEach(async () => {
      if (route.perOperator !== undefined) await world().passMinute();
    });

    test.each(promisesOf(route, world))('%s', (_, keeps) => keeps());
  });
}

/** What a route promises: each in words, and what fails unless it is kept. */
function promisesOf(route: Route, world: () => OperatorWorld): readonly [string, () => Promise<void>][] {
  const promises: [string, () => Promise<void>][] = [];
  const always = (words: string, keeps: () => Promise<void>): void => void promises.push([words, keeps]);
  const promise = (words: string, keeps: () => Promise<void>, isMade = true): void => {
    if (isRequest && isMade) always(words, keeps);
  };
  const { method, path, right, query, body, perOperator } = route;
  const name = `${method} ${path}`;
  const bodyFields = body === undefined ? [] : fieldsOf(body);
  const isRequest = route.kind === 'request' && path.startsWith('/api/');
  const changes = right.startsWith('change');
  /** Acts of operators are not shown to admins. */
  const showsAdmins = !anonymous.has(path) && !path.endsWith('/changes');
  const perMinute = perOperator?.perMinute ?? 0;
  const isList = query?.shape['cursor'] !== undefined;
  const takesTenant = method === 'GET' && query?.shape['tenantId'] !== undefined;
  /** A query that the route accepts. */
  const queryOf = (more = ''): string => {
    const since = query?.shape['since'] === undefined ? '' : 'since=2030-01-02T11:00:00Z';
    return [since, more].filter((one) => one !== '').join('&');
  };
  const ask = (role: OperatorRole, asked: OperatorRequest = {}): Promise<Reply> =>
    world().send(route, world().headersOf[role], asked);

  async function expectInvalid(field: string | readonly string[], asked: OperatorRequest, why = ''): Promise<void> {
    const reply = await ask('service', asked);
    expect([asked, errorOf(reply)]).toEqual([asked, INVALID]);
    if (JSON.stringify(asked).includes(HIDDEN)) {
      const { headersOf, app } = world();
      const kept = await app.get(
        `/api/operator/refusals?requestId=${reply.headers['x-request-id']}`,
        headersOf.service,
      );
      // In a flood only the first refusals of each second are kept.
      expect([reply.text.includes(HIDDEN), kept.text.includes(HIDDEN)]).toEqual([false, false]);
    }
    const details = reply.body['details'] as readonly { readonly path: string; readonly message: string }[];
    expect([asked, [...new Set(details.map((one) => one.path))]]).toEqual([asked, [field].flat()]);
    expect([asked, details[0]?.message]).toEqual([asked, expect.stringContaining(why)]);
  }

  always('is closed to whoever proves nothing, or the wrong thing', async () => {
    const proofs: Record<string, string>[] = [
      {},
      { authorization: 'Bearer wrong' },
      { cookie: 'tenant_session=wrong' },
    ];
    for (const proof of proofs)
      expect(errorOf(await world().send(route, proof))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
  });

  always('is open to the roles that have its right, and refused to all others', async () => {
    for (const role of Object.keys(world().headersOf) as OperatorRole[]) {
      const isAllowed = mayDo(role, right);
      const { status, body: told } = await (changes && !isAllowed ? world().unchanged(() => ask(role)) : ask(role));
      const isRefused = status === 401 || (status === 403 && told['code'] === 'FORBIDDEN');
      expect([role, isRefused]).toEqual([role, !isAllowed]);
    }
  });

  promise(
    'is refused to a page of another site, whoever is logged in',
    async () => {
      const foreign = { ...world().headersOf.operator, origin: 'https://evil.example' };
      const reply = await world().unchanged(() => world().send(route, foreign));
      expect(errorOf(reply)).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    },
    method !== 'GET',
  );

  promise(
    'is not there for the admin of another tenant',
    async () => {
      const code = path.includes('/sessions/') ? 'SESSION_NOT_FOUND' : 'NOT_FOUND';
      expect(errorOf(await world().unchanged(() => ask('tenant_admin')))).toEqual({ status: 404, code });
      expect((await ask('viewer')).status).not.toBe(404);
    },
    path.includes('{') && (right === 'see' || right === 'change') && !path.includes('/views/'),
  );

  promise(
    'is not found under names that there are not',
    async () => {
      const names = ['nobody', 'x', '%00', `s:${'0'.repeat(32)}:${'A'.repeat(22)}`];
      const asked = () => names.map((unknown) => () => ask('service', { path: unknownIn(route, world(), unknown) }));
      // The audit may have that somebody tried.
      await world().unchanged(async () => {
        for (const one of asked()) {
          const { status, code } = errorOf(await one());
          expect([status, code]).toEqual([404, expect.stringMatching(/^(?:SESSION_)?NOT_FOUND$/)]);
        }
      }, 'journal');
    },
    path.includes('{'),
  );

  promise('ignores no parameter that it does not know, and says which there are', async () => {
    const names = Object.keys(query?.shape ?? {});
    const known = names.length === 0 ? 'there are none' : `known are ${names.join(', ')}`;
    for (const field of ['unknownField', '__proto__', ...names.map((one) => one.toUpperCase())])
      await expectInvalid(field, { query: `${field}=x` }, known);
  });

  for (const field of Object.keys(query?.shape ?? {}))
    promise(`is refused where the parameter ${field} is wrong or comes twice, and names it`, async () => {
      const values = ['%00', ...(emptyIsUnknown.has(field) ? [] : ['']), ...(wrongParameters[field] ?? [])];
      for (const value of [...values.map((one) => `${field}=${one}`), `${field}=5&${field}=6`])
        await expectInvalid(field, { query: value });
    });

  promise(
    'is refused where parameters are wrong in other ways, and names them',
    async () => {
      for (const [field, wrong, why] of invalidQueries[name] ?? []) await expectInvalid(field, { query: wrong }, why);
    },
    name in invalidQueries,
  );

  promise(
    'is refused for a longer time than it can answer for, and says so',
    async () => {
      for (const [field, days, rest] of tooBroad[name] ?? []) {
        const since = (ms: number) => new Date(world().app.clock.now() - days * DAY - ms).toISOString();
        const spanOf = (ms: number): OperatorRequest =>
          body === undefined
            ? { query: `${rest}${field}=${since(ms)}` }
            : { body: { ...(route.bodyExample as object), [field]: since(ms), to: since(-days * DAY) } };
        expect((await ask('service', spanOf(0))).status).not.toBe(422);
        const refused = await ask('service', spanOf(1));
        expect(errorOf(refused)).toEqual({ status: 422, code: 'QUERY_TOO_BROAD' });
        expect(refused.body['error']).toMatch(new RegExp(`\\b${days === 1 ? 'a|1' : days} day`));
      }
    },
    name in tooBroad,
  );

  describeBody();

  for (const by of isList ? (readBy[path] ?? ['']) : []) {
    const asked = (more: string): OperatorRequest => ({ query: [by, more].filter((one) => one !== '').join('&') });

    promise(
      `is read page by page${by && ` by ${by}`}, without repeating or omitting anything, and by cursors that prove nothing`,
      async () => {
        for (const role of ['service', 'viewer'] as const) {
          const whole = rowsOf(await ask(role, asked('limit=200')));
          expect(whole.length).toBeGreaterThan(1);
          const seen: unknown[] = [];
          for (let cursor: string | null = ''; cursor !== null && seen.length <= whole.length;) {
            const reply: Reply = await ask(role, asked(`limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`));
            seen.push(...rowsOf(reply));
            cursor = reply.body['nextCursor'] as string | null;
            const parts = Buffer.from(cursor ?? '', 'base64url').toString();
            for (const secret of role === 'viewer' ? world().confidential : []) expect(parts).not.toContain(secret);
          }
          expect(seen).toEqual(whole);
        }
      },
    );

    promise(`accepts no cursor${by && ` of ${by}`} but its own, and names it`, async () => {
      const { body: first } = await ask('service', asked('limit=1'));
      const parts = JSON.parse(Buffer.from(String(first['nextCursor']), 'base64url').toString()) as unknown[];
      for (const cursor of forged(parts)) await expectInvalid('cursor', asked(`cursor=${cursor}`));
      expect((await ask('service', asked(`cursor=${String(first['nextCursor'])}`))).status).toBe(200);
    });
  }

  promise(
    'shows an admin nothing of other tenants, processes or whole ids, whatever they ask for',
    async () => {
      const { confidential, node } = world();
      const hidden = ['acme', node, ...confidential.filter((one) => one !== 'hidden-path')];
      const told = async (more: string): Promise<string> => {
        const reply = await ask('tenant_admin', { query: queryOf(more) });
        for (const one of hidden) expect(reply.text).not.toContain(one);
        expect([more, reply.status]).toEqual([more, takesTenant ? 200 : reply.status]);
        return reply.text;
      };
      const own = await told('');
      if (!takesTenant) return;
      const none = await told('tenantId=nobody');
      for (const more of ['tenantId=acme', 'tenantId=%25']) expect(await told(more)).toBe(none);
      expect([own.includes('globex'), none.includes('globex')]).toEqual([showsAdmins, false]);
      const { nextCursor } = isList ? (await ask('service', { query: queryOf('limit=1') })).body : {};
      for (const more of isList ? ['', 'tenantId=acme&'] : []) await told(`${more}cursor=${String(nextCursor)}`);
    },
    method === 'GET' && right === 'see',
  );

  promise(
    'shows viewers all tenants, but neither addresses nor whole ids, and nobody a secret',
    async () => {
      const seen = (await ask('viewer', { query: queryOf() })).text;
      for (const one of world().confidential) expect(seen).not.toContain(one);
      for (const one of takesTenant && !anonymous.has(path) ? ['acme', 'globex'] : []) expect(seen).toContain(one);
      for (const role of world().rolesOf(route)) {
        const { text } = await ask(role, { query: queryOf() });
        for (const secret of [SERVICE_TOKEN, HIDDEN]) expect(text).not.toContain(secret);
      }
      const whole = (await ask('operator', { query: queryOf() })).text;
      const isMasked = path.endsWith('/me') ? false : whole.includes('ops@example.com');
      expect(seen.includes('o…@example.com')).toBe(isMasked);
    },
    method === 'GET',
  );

  promise(
    `is answered ${perMinute} times a minute for each operator, and again a minute later`,
    async () => {
      const counted: OperatorRequest = path.endsWith('/search') ? { body: { q: 'nobody@example.com' } } : {};
      for (let n = 0; n < perMinute; n += 1) expect((await ask('service', counted)).status).not.toBe(429);
      expect(errorOf(await ask('service', counted))).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
      const uncounted = perOperator?.concerns === undefined ? undefined : (await ask('service')).status;
      expect(uncounted).not.toBe(429);
      expect((await world().app.get('/api/operator/me', world().headersOf.service)).status).toBe(200);
      expect((await ask('operator', counted)).status).not.toBe(429);
      await world().passMinute();
      expect((await ask('service', counted)).status).not.toBe(429);
    },
    perOperator !== undefined,
  );

  promise('by another method is refused, with those that there are', async () => {
    const reply = await world().app.send({
      method: 'PUT',
      path: world().pathOf(route),
      headers: world().headersOf.service,
    });
    expect(errorOf(reply)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(reply.headers['allow']).toContain(method);
  });

  promise('is kept by no cache', async () => {
    for (const headers of Object.values(world().headersOf))
      expect((await world().send(route, headers)).headers['cache-control']).toBe('no-store');
  });

  promise('while the database is away is answered as described, never as a defect, and changes nothing', async () => {
    const asked = async () => {
      for (const role of ['service', 'operator'] as const) {
        const { status } = await world().away(() => ask(role));
        expect(changes ? [503] : [200, 404, 422, 503]).toContain(status);
      }
    };
    await (changes ? world().unchanged(asked) : asked());
    expect(world().app.faults.filter((fault) => !String(fault).includes('Unavailable'))).toEqual([]);
  });
  return promises;

  function describeBody(): void {
    const hasBody = body !== undefined;
    const example = (route.bodyExample ?? {}) as Record<string, unknown>;

    promise(
      'with a field that it does not know is refused, and the field is named',
      async () => {
        await expectInvalid('unknownField', { body: { ...example, unknownField: 1 } });
      },
      hasBody,
    );

    promise(
      'whose body is no object of JSON is refused, and the reply says so',
      async () => {
        for (const text of ['{', '[]', '"text"', '12'])
          expect(errorOf(await ask('operator', { body: text }))).toEqual(INVALID);
      },
      hasBody,
    );

    promise(
      'with a value that is wrong is refused, changes nothing, and names the field',
      async () => {
        await world().unchanged(async () => {
          for (const [field, wrong, why] of invalidBodies[name] ?? [])
            await expectInvalid(field, { body: { ...example, ...wrong } }, why);
        });
      },
      name in invalidBodies,
    );

    promise(
      'with a reason that cannot be stored is refused, and changes nothing',
      async () => {
        await world().unchanged(async () => {
          for (const reason of ['x'.repeat(501), 5, '\u0000'])
            await expectInvalid('reason', { body: { ...example, reason } });
        });
      },
      bodyFields.includes('reason'),
    );

    promise(
      'for another tenant or an unknown one is refused as if there were none',
      async () => {
        const of = (tenantId: string): OperatorRequest => ({ body: { ...example, tenantId } });
        const NONE = { status: 404, code: 'NOT_FOUND' };
        await world().unchanged(async () => {
          expect(errorOf(await ask('tenant_admin', of('acme')))).toEqual(NONE);
          expect(errorOf(await ask('service', of('nobody')))).toEqual(ofUnknownTenant[name] ?? NONE);
        });
      },
      bodyFields.includes('tenantId'),
    );

    promise(
      'that only tries is answered, and changes nothing, not even the audit',
      async () => {
        const tried = path.endsWith('/what-if') ? { change: { totals: { dollarsDaily: 40 } } } : { dryRun: true };
        const { status } = await world().unchanged(() => ask('service', { body: { ...example, ...tried } }));
        expect(status).toBe(200);
      },
      bodyFields.includes('dryRun') || path.endsWith('/what-if'),
    );
  }
}

/** Parameters of which the empty text is not invalid: there is simply nothing of that name. */
const emptyIsUnknown = new Set(['requestId']);

/** Invalid values of parameters, besides those that no parameter may have. */
const wrongParameters: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '201', 'x', '1.5'],
  cursor: ['x', 'garbage', 'WyJhIl0', '-1', '9e9'],
  from: ['yesterday'],
  to: ['yesterday'],
  since: ['yesterday', '2100-01-01T00:00:00Z'],
  reason: ['x'.repeat(501)],
};

/** The fields that a body may have; none if it need not be an object. */
function fieldsOf(body: z.ZodType): readonly string[] {
  const { properties = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
  return Object.keys(properties);
}

/** The rows of a page: the first list in its body. */
function rowsOf({ status, text, body }: Reply): readonly unknown[] {
  expect([status, text]).toEqual([200, text]);
  return Object.values(body).find((one) => Array.isArray(one)) as readonly unknown[];
}

/** The path of the route with its last parameter replaced. */
function unknownIn(route: Route, world: OperatorWorld, unknown: string): string {
  const at = route.path.split('/').findLastIndex((part) => part.startsWith('{'));
  return world
    .pathOf(route)
    .split('/')
    .map((part, index) => (index === at ? unknown : part))
    .join('/');
}

/** Cursors that differ from one with these parts in their number, types or text. */
function forged(parts: readonly unknown[]): readonly string[] {
  const swapped = parts.map((_, at) =>
    parts.map((part, index) => (index !== at ? part : typeof part === 'number' ? String(part) : 1)),
  );
  const unfit = parts.flatMap((part, at) =>
    (typeof part === 'number' ? [1.5, 2 ** 53, null] : ['a\0b', null]).map((wrong) => parts.with(at, wrong)),
  );
  const texts = [parts.slice(1), [...parts, 1], [...parts, 'x'], [], {}, ...swapped, ...unfit].map((one) =>
    JSON.stringify(one),
  );
  const spaced = JSON.stringify(parts).replace(',', ', ').replace('[', '[ ');
  return [...texts, spaced, `[1e400${',0'.repeat(parts.length - 1)}]`, 'x'].map((text) =>
    Buffer.from(text).toString('base64url'),
  );
}
