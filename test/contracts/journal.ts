import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { randomId } from '../../src/kernel/ids.ts';
import {
  audited,
  type Entry,
  type EntryKind,
  type JournalPage,
  type JournalPosition,
  type JournalQuery,
  type MachineName,
  type NewEntry,
} from '../../src/stores/journal/contract.ts';
import { createPostgresJournal, scan } from '../../src/stores/journal/postgres.ts';
import { DAY_BEGIN, nodesOf, storesOf } from './support.ts';

type Fields<K extends EntryKind> = Partial<Omit<NewEntry<K>, 'detail'>> & {
  readonly detail?: Partial<NewEntry<K>['detail']>;
};

function transition({ detail, ...fields }: Fields<'transition'> = {}): NewEntry<'transition'> {
  return {
    id: randomId(),
    kind: 'transition',
    atMs: DAY_BEGIN,
    node: 'one',
    requestId: 'req_1',
    of: { machine: 'voice-session', target: 's:someone:beginning' },
    code: 'CLOCK',
    ...fields,
    detail: {
      change: 'moved',
      from: 'engaged',
      to: 'idle',
      steps: [
        { event: 'CLOCK', from: 'live.engaged', to: 'live.dormant', guard: 'hasGoneIdle', actions: ['followClock'] },
      ],
      guards: [
        { name: 'isPastDuration', passed: false },
        { name: 'hasGoneIdle', passed: true },
      ],
      version: 3,
      record: { reason: null, lastSeenAtMs: DAY_BEGIN - 1, 'with "quotes" and ü': true },
      ...detail,
    },
  };
}

const of = (target: string, machine: MachineName = 'voice-session') => ({ machine, target });

function refusal({ detail, ...fields }: Fields<'refusal'> = {}): NewEntry<'refusal'> {
  return {
    id: randomId(),
    kind: 'refusal',
    atMs: DAY_BEGIN,
    node: 'one',
    requestId: `req_${randomId()}`,
    of: { tenantId: 'acme', keyId: 'site', subject: 'someone' },
    code: 'RATE_LIMIT_EXCEEDED',
    ...fields,
    detail: {
      status: 429,
      layer: 'minute',
      route: '/api/session',
      origin: 'https://acme.example',
      addressHash: '0123456789abcdef',
      network: '203.0.113.0/24',
      limit: 12,
      count: 12,
      unit: 'sessions',
      lever: 'WIDGET_SESSION_PER_MIN',
      retryAfter: 5,
      ...detail,
    },
  };
}

function act({ detail, ...fields }: Fields<'act'> = {}): NewEntry<'act'> {
  return {
    id: randomId(),
    kind: 'act',
    atMs: DAY_BEGIN,
    node: null,
    requestId: 'req_1',
    of: { actor: 'ops@example.com', target: 'acme/site', tenantId: 'acme' },
    code: 'key.revoke',
    ...fields,
    detail: { role: 'operator', reason: 'stolen "ü"', result: null, count: null, ...detail },
  };
}

/** An entry as the journal returns it. */
const kept = <K extends EntryKind>(entry: NewEntry<K>): object => ({ ...entry, ordinal: expect.any(Number) as number });

/** @param nodes the connections of two nodes to one migrated database */
export function journalContract(name: string, nodes: () => readonly [Database, Database]): void {
  describe(`the journal, ${name}`, () => {
    const journal = nodesOf(storesOf(nodes, createPostgresJournal));
    const narrow = nodesOf(storesOf(nodes, (database) => createPostgresJournal(database, 100)));

    async function list<K extends EntryKind>(
      kind: K,
      query: Partial<JournalQuery<K>>,
      limit = 50,
    ): Promise<readonly Entry<K>[]> {
      return (await journal().list<K>({ kinds: [kind], tenants: '*', ...query }, undefined, limit)).entries;
    }

    /** Reads all entries, in pages of three. */
    async function pages<K extends EntryKind>(kind: K, query: Partial<JournalQuery<K>>): Promise<Entry<K>[]> {
      const seen: Entry<K>[] = [];
      let after: JournalPosition | undefined;
      do {
        const page: JournalPage<K> = await journal().list<K>({ kinds: [kind], tenants: '*', ...query }, after, 3);
        expect(page.isPartial).toBe(false);
        seen.push(...page.entries);
        after = page.next;
      } while (after !== undefined);
      return seen;
    }

    test('keeps entries of all kinds unchanged, and lists each kind newest first on every node', async () => {
      const target = randomId();
      const ended = transition({ of: of(target), code: 'END', detail: { change: 'ended', to: 'ended', steps: [] } });
      const opened = transition({ of: of(target), requestId: null, detail: { from: null } });
      const noted: NewEntry<'note'> = {
        ...transition(),
        id: randomId(),
        kind: 'note',
        of: of(target),
        code: 'detached',
        detail: { code: 1006, reason: null },
      };
      const bare = refusal({ of: {}, detail: { origin: null, addressHash: null, network: null } });
      const process: NewEntry<'process'> = {
        ...transition(),
        id: randomId(),
        kind: 'process',
        of: { target },
        code: 'started',
        detail: { host: 'voice-1', version: '0.1.0', configHash: '9c3b6e5f0a1d', shard: 7 },
      };
      const done = act({ of: { actor: 'cli', target }, detail: { role: 'cli', reason: null }, requestId: null });
      await journal().append([opened, ended, noted, bare, process, done]);
      const { entries } = await journal().list(
        { kinds: ['transition', 'note'], tenants: '*', ...of(target) },
        undefined,
        10,
      );
      expect(entries).toEqual([kept(noted), kept(ended), kept(opened)]);
      expect(await list('refusal', { requestId: bare.requestId ?? '' })).toEqual([kept(bare)]);
      expect(await list('process', { target })).toEqual([kept(process)]);
      expect(await list('act', { target })).toEqual([kept(done)]);
    });

    test('keeps an entry once, even when a batch is written again', async () => {
      const [target, tenantId] = [randomId(), randomId()];
      const batch = [transition({ of: of(target) }), refusal({ of: { tenantId } })];
      await journal().append(batch);
      await journal().append([...batch, transition({ of: of(target) }), { ...refusal({ of: { tenantId } }) }]);
      await journal().append([{ ...(batch[1] as NewEntry<'refusal'>), id: randomId() }]);
      expect(await list('transition', of(target))).toHaveLength(2);
      expect(await list('refusal', { tenants: [tenantId] })).toHaveLength(2);
      await journal().append([]);
    });

    test('comes in pages that neither repeat nor omit an entry, even of one instant', async () => {
      const target = randomId();
      const all = Array.from({ length: 7 }, (_, version) => transition({ of: of(target), detail: { version } }));
      await journal().append(all);
      expect((await pages('transition', of(target))).map(({ detail }) => detail.version)).toEqual([
        6, 5, 4, 3, 2, 1, 0,
      ]);
      const many = Array.from({ length: 7 }, (_, n) =>
        refusal({ of: { tenantId: target }, atMs: DAY_BEGIN + Math.floor(n / 3) }),
      );
      await journal().append(many);
      const ids = (await pages('refusal', { tenants: [target] })).map(({ id }) => id);
      expect(ids).toEqual(many.map(({ id }) => id).toReversed());
      await journal().append(many.map(() => act({ of: { actor: target } })));
      expect(await pages('act', { actor: target })).toHaveLength(7);
      expect((await journal().whoActed()).filter((actor) => actor === target)).toEqual([target]);
    });

    test('orders by time, whenever an entry was written', async () => {
      const target = randomId();
      const [early, late] = [0, 1].map((n) => transition({ of: of(target), atMs: DAY_BEGIN + n }));
      await journal().append([late as NewEntry]);
      await journal().append([early as NewEntry]);
      expect((await list('transition', of(target))).map(({ id }) => id)).toEqual([late?.id, early?.id]);
    });

    test('does not mix machines whose actors have the same name', async () => {
      const target = randomId();
      const machines = ['voice-session', 'voice-call', 'otp-challenge', 'auth-session'] as const;
      await journal().append(machines.map((machine) => transition({ of: of(target, machine), code: machine })));
      for (const machine of machines)
        expect((await list('transition', of(target, machine))).map(({ code }) => code)).toEqual([machine]);
    });

    test('finds and counts entries of several targets, by one code or several', async () => {
      const [one, other, third] = [randomId(), randomId(), randomId()];
      await journal().append([
        transition({ of: of(one), code: 'OPEN' }),
        transition({ of: of(other, 'voice-call'), code: 'READY' }),
        transition({ of: of(one), code: 'END' }),
        transition({ of: of(third), code: 'OPEN' }),
        act({ of: { actor: 'a', target: one } }),
      ]);
      expect((await list('transition', { target: [one, other] })).map(({ code }) => code)).toEqual([
        'END',
        'READY',
        'OPEN',
      ]);
      expect((await list('transition', { target: [one, other], code: ['END', 'READY'] })).length).toBe(2);
      expect(await list('transition', { target: [] })).toEqual([]);
      expect((await pages('transition', { target: [one, other, third] })).length).toBe(4);
      const tally = await journal().tally([one, other]);
      expect(tally).toHaveLength(4);
      expect(tally).toEqual(
        expect.arrayContaining([
          { target: one, kind: 'transition', code: 'END', count: 1 },
          { target: one, kind: 'act', code: 'key.revoke', count: 1 },
          { target: other, kind: 'transition', code: 'READY', count: 1 },
        ]),
      );
    });

    test('says which actors a request affected', async () => {
      const [requestId, one, other] = [randomId(), randomId(), randomId()];
      await journal().append([
        transition({ requestId, of: of(one) }),
        transition({ requestId, of: of(other) }),
        transition({ requestId, of: of(one), code: 'END' }),
        transition({ requestId, of: of(randomId(), 'auth-session') }),
      ]);
      expect(await journal().actorsOf('voice-session', requestId, 5)).toEqual([one, other]);
      expect(await journal().actorsOf('voice-session', requestId, 1)).toEqual([one]);
      expect(await journal().actorsOf('voice-session', randomId(), 5)).toEqual([]);
    });

    test('reports times in which entries were lost, for every span that they touch', async () => {
      const [fromMs, toMs] = [DAY_BEGIN + 1_000_000, DAY_BEGIN + 2_000_000];
      const lost: NewEntry<'lost'> = {
        id: randomId(),
        kind: 'lost',
        atMs: toMs,
        node: randomId(),
        requestId: null,
        of: {},
        code: 'events',
        detail: { fromMs, count: 3 },
      };
      await journal().append([lost]);
      const within = async (from: number, to: number) =>
        (await journal().lostWithin(from, to)).find(({ node }) => node === lost.node);
      expect(await within(fromMs, toMs)).toEqual(kept(lost));
      expect(await within(toMs, toMs + 1)).toBeDefined();
      expect(await within(fromMs - 1, fromMs)).toBeDefined();
      expect(await within(toMs + 1, toMs + 2)).toBeUndefined();
      expect(await within(fromMs - 2, fromMs - 1)).toBeUndefined();
    });

    test('shows nothing of tenants that may not be seen', async () => {
      const tenantId = randomId();
      const one = refusal({ of: { tenantId } });
      await journal().append([one]);
      const requestId = one.requestId ?? '';
      expect(await list('refusal', { requestId, tenants: ['acme'] })).toEqual([]);
      expect(await list('refusal', { requestId, tenants: [tenantId] })).toEqual([kept(one)]);
      expect(await list('refusal', { tenants: ['acme'] }, 1000)).not.toContainEqual(kept(one));
      expect(await list('refusal', { tenants: [tenantId] })).toEqual([kept(one)]);
      expect(await list('refusal', { tenants: [] })).toEqual([]);
      expect(await list('act', { tenants: [] })).toEqual([]);
    });

    test('finds refusals by code, tenant, key, network, subject and time', async () => {
      const tenantId = randomId();
      const late = refusal({
        of: { tenantId, keyId: 'late', subject: 'b'.repeat(32) },
        atMs: DAY_BEGIN + 1000,
        code: 'ORIGIN_MISMATCH',
        detail: { network: '198.51.100.0/24' },
      });
      await journal().append([refusal({ of: { tenantId, keyId: 'site', subject: 'someone' } }), late]);
      const keysBy = async (query: Partial<JournalQuery<'refusal'>>) =>
        (await list('refusal', { tenants: [tenantId], ...query })).map((one) => one.of.keyId);
      expect(await keysBy({})).toEqual(['late', 'site']);
      expect(await keysBy({ code: 'ORIGIN_MISMATCH' })).toEqual(['late']);
      expect(await keysBy({ keyId: 'site' })).toEqual(['site']);
      expect(await keysBy({ network: '198.51.100.0/24' })).toEqual(['late']);
      expect(await keysBy({ subject: 'b'.repeat(32) })).toEqual(['late']);
      expect(await keysBy({ beforeMs: DAY_BEGIN + 1000 })).toEqual(['site']);
      expect(await keysBy({ fromMs: DAY_BEGIN + 1 })).toEqual(['late']);
      expect(await keysBy({ fromMs: DAY_BEGIN, beforeMs: DAY_BEGIN + 1 })).toEqual(['site']);
    });

    test('finds acts by who, what, whose and when, alone and together', async () => {
      const [actor, tenantId] = [randomId(), randomId()];
      await journal().append([
        act({ of: { actor, tenantId, target: 'mine' } }),
        act({ of: { actor, tenantId, target: 'later' }, atMs: DAY_BEGIN + 10, code: 'key.issue' }),
        act({ of: { actor, tenantId: randomId(), target: 'of another' } }),
        act({ of: { actor, target: 'of nobody' } }),
      ]);
      const targets = async (query: Partial<JournalQuery<'act'>>) =>
        (await list('act', { actor, ...query })).map((one) => one.of.target ?? '').toSorted();
      expect(await targets({})).toEqual(['later', 'mine', 'of another', 'of nobody']);
      expect(await targets({ tenants: [tenantId] })).toEqual(['later', 'mine']);
      expect(await targets({ tenants: [] })).toEqual([]);
      expect(await targets({ code: 'key.issue' })).toEqual(['later']);
      expect(await targets({ fromMs: DAY_BEGIN + 1 })).toEqual(['later']);
      expect(await targets({ beforeMs: DAY_BEGIN + 10, tenants: [tenantId] })).toEqual(['mine']);
      expect(await targets({ beforeMs: DAY_BEGIN + 11, tenants: [tenantId] })).toEqual(['later', 'mine']);
    });

    test('says what came of the given acts, and of no others', async () => {
      const target = randomId();
      const acts = [1, 2, 3].map((n) => act({ of: { actor: 'a', target, batchId: `${target}${n}` } }));
      await journal().append(acts);
      const ids = acts.map(({ id }) => id);
      await journal().settle(ids.slice(0, 1), 'done', 12);
      await journal().settle(ids.slice(1, 2), 'unchanged');
      expect((await list('act', { target })).map(({ detail }) => [detail.result, detail.count])).toEqual([
        [null, null],
        ['unchanged', null],
        ['done', 12],
      ]);
      expect(await list('act', { batchId: `${target}2` })).toMatchObject([{ id: ids[1] }]);
    });

    test('finds the last act of an action on a target up to a time', async () => {
      const target = randomId();
      const one = act({ code: 'session.end', of: { target, actor: 'a' } });
      const later = { ...one, id: randomId(), atMs: DAY_BEGIN + 2, of: { target, actor: 'b' } };
      await journal().append([
        one,
        later,
        { ...one, id: randomId(), code: 'key.issue', atMs: DAY_BEGIN + 1 },
        { ...one, id: randomId(), of: { target: randomId(), actor: 'a' }, atMs: DAY_BEGIN + 1 },
        transition({ of: of(target), atMs: DAY_BEGIN + 1 }),
        // Of two at the same instant the first one counts.
        { ...later, id: randomId(), of: { target, actor: 'c' } },
      ]);
      const latest = (untilMs: number) => journal().latestAct('session.end', target, untilMs);
      expect(await latest(DAY_BEGIN - 1)).toBeUndefined();
      expect(await latest(DAY_BEGIN)).toEqual(kept(one));
      expect(await latest(DAY_BEGIN + 1)).toEqual(kept(one));
      expect(await latest(DAY_BEGIN + 2)).toEqual(kept(later));
      expect(await latest(DAY_BEGIN + 9)).toEqual(kept(later));
    });

    test('knows who began a bulk act', async () => {
      const batchId = randomId();
      const by = (actor: string) => act({ code: 'sessions.end', of: { actor, batchId } });
      await journal().append([{ ...by('a'), code: 'session.end' }, by('b'), by('c')]);
      expect(await journal().beginnerOf(batchId)).toBe('b');
      expect(await journal().beginnerOf(randomId())).toBeUndefined();
    });

    test('shows bulk acts in place of their parts to those who may see them, in full pages', async () => {
      const [acme, globex, actor] = [randomId(), randomId(), randomId()];
      const atMs = DAY_BEGIN + 2 * 86_400_000;
      /** A bulk act and its parts, which are more than the store examines for a page. */
      const many = (tenantId: string | null, part: number): readonly NewEntry<'act'>[] => [
        act({ code: 'sessions.end', of: { actor, tenantId, target: `whole ${part}` }, atMs: atMs + part }),
        ...Array.from({ length: 150 }, (_, n) =>
          act({
            code: 'session.end',
            of: {
              actor,
              tenantId: tenantId === null && n >= 148 ? globex : acme,
              target: 'part',
              partOf: tenantId === null ? 'installation' : 'tenant',
            },
            atMs: atMs + part,
          }),
        ),
      ];
      const alone = [0, 9].map((n) => act({ of: { actor, tenantId: acme, target: `alone ${n}` }, atMs: atMs + n }));
      await journal().append([...alone, ...many(acme, 3), ...many(null, 5), ...many(acme, 7)]);
      const seen = async (query: Partial<JournalQuery<'act'>>): Promise<(string | undefined)[]> => {
        const found: (string | undefined)[] = [];
        let after: JournalPosition | undefined;
        do {
          const folded = { kinds: ['act'] as const, tenants: '*' as const, fromMs: atMs, isFolded: true, ...query };
          const page: JournalPage<'act'> = await narrow().list<'act'>(folded, after, 2);
          expect(page.isPartial).toBe(false);
          expect(page.entries.length).toBeGreaterThan(0);
          found.push(...page.entries.map(({ of: { target } }) => target));
          after = page.next;
        } while (after !== undefined);
        return found;
      };
      const wholes = ['alone 9', 'whole 7', 'whole 5', 'whole 3', 'alone 0'];
      expect(await seen({ beforeMs: atMs + 10 })).toEqual(wholes);
      expect(await seen({ actor })).toEqual(wholes);
      expect(await seen({ actor, fromMs: atMs + 3, beforeMs: atMs + 6 })).toEqual(['whole 5', 'whole 3']);
      // For an act over several tenants, each tenant sees all of its own parts and no others.
      const parts = Array.from({ length: 148 }, () => 'part');
      expect(await seen({ tenants: [globex] })).toEqual(['part', 'part']);
      expect(await seen({ tenants: [acme], beforeMs: atMs + 5 })).toEqual(['whole 3', 'alone 0']);
      const found = await list('act', { tenants: [acme, globex], isFolded: true, fromMs: atMs + 1 }, 200);
      const targets = found.map(({ of: { target } }) => target);
      expect(targets).toEqual(['alone 9', 'whole 7', 'part', 'part', ...parts, 'whole 3']);
      expect(await list('act', { tenants: '*', actor, fromMs: atMs }, 500)).toHaveLength(3 * 151 + 2);
    });

    test('examines a limited number of rows per page, says so, and continues from there', async () => {
      const code = 'login.revoke';
      const atMs = DAY_BEGIN + 10 * 86_400_000;
      await journal().append([act({ code, atMs })]);
      await journal().append(Array.from({ length: 100 }, (_, n) => act({ atMs: atMs + 1 + n })));
      const query: JournalQuery<'act'> = { kinds: ['act'], tenants: '*', code, fromMs: atMs };
      const first = await narrow().list(query, undefined, 5);
      expect(first).toMatchObject({ entries: [], isPartial: true, next: { atMs: atMs + 1 } });
      const second = await narrow().list(query, first.next, 5);
      expect(second).toMatchObject({ entries: [{ code }], next: undefined, isPartial: false });
    });

    test('finds what one actor did among much that others did', async () => {
      const actor = randomId();
      const atMs = DAY_BEGIN + 12 * 86_400_000;
      const wanted = act({ of: { actor }, atMs });
      await journal().append([wanted, ...Array.from({ length: 100 }, (_, n) => act({ atMs: atMs + 1 + n }))]);
      const query: JournalQuery<'act'> = { kinds: ['act'], tenants: '*', actor };
      const page = await narrow().list(query, undefined, 5);
      expect(page).toMatchObject({ entries: [{ id: wanted.id }], next: undefined, isPartial: false });
    });

    test('continues even when the last row examined is a match', async () => {
      const code = 'login.revoke';
      const atMs = DAY_BEGIN + 11 * 86_400_000;
      const wanted = [0, 1].map((n) => act({ code, atMs: atMs + n }));
      await journal().append([...wanted, ...Array.from({ length: 99 }, (_, n) => act({ atMs: atMs + 2 + n }))]);
      const query: JournalQuery<'act'> = { kinds: ['act'], tenants: '*', code };
      const first = await narrow().list({ ...query, beforeMs: atMs + 101 }, undefined, 5);
      expect(first).toMatchObject({ entries: [{ id: wanted[1]?.id }], isPartial: true });
      expect((await narrow().list(query, first.next, 5)).entries).toMatchObject([{ id: wanted[0]?.id }]);
    });

    test('examines no rows of tenants that may not be seen', async () => {
      const [mine, foreign, actor] = [randomId(), randomId(), randomId()];
      const atMs = DAY_BEGIN + 9_000_000;
      const own = [200, 30, 0].map((n) => act({ of: { actor, tenantId: mine }, atMs: atMs + n }));
      const others = Array.from({ length: 120 }, (_, n) =>
        act({ of: { actor, tenantId: n > 60 ? foreign : null }, atMs: atMs + n }),
      );
      await journal().append([...own, ...others]);
      const seen = (tenants: string[], after?: JournalPosition) =>
        narrow().list({ kinds: ['act'], tenants, actor }, after, 2);
      for (const tenants of [[mine], [mine, randomId()]]) {
        const first = await seen(tenants);
        expect(first).toMatchObject({ entries: own.slice(0, 2).map(({ id }) => ({ id })), isPartial: false });
        expect(await seen(tenants, first.next)).toMatchObject({
          entries: [{ id: own[2]?.id }],
          isPartial: false,
          next: undefined,
        });
      }
      expect(await seen([])).toEqual({ entries: [], next: undefined, isPartial: false });
    });

    test('searches refusals in parts: a page that finds nothing in 10,000 says where the next one begins', async () => {
      const tenantId = randomId();
      const subject = randomId();
      const sought = refusal({ of: { tenantId, subject }, detail: { network: '192.0.2.0/24' }, atMs: DAY_BEGIN - 1 });
      await journal().append([sought]);
      for (let part = 0; part < 5; part += 1)
        await journal().append(Array.from({ length: 2000 }, () => refusal({ of: { tenantId } })));
      // The 10,000 are the limit of all tenants of a query together.
      for (const tenants of [[tenantId], [tenantId, randomId()]]) {
        const query: JournalQuery<'refusal'> = { kinds: ['refusal'], tenants, network: '192.0.2.0/24' };
        const found: JournalPage<'refusal'>[] = [];
        do found.push(await journal().list(query, found.at(-1)?.next, 5));
        while (found.at(-1)?.next !== undefined);
        expect(found.map(({ entries }) => entries)).toEqual([...tenants.map(() => []), [kept(sought)]]);
        // A subject has only a few refusals, which are found at once.
        expect(await journal().list({ kinds: ['refusal'], tenants, subject }, undefined, 5)).toMatchObject({
          entries: [kept(sought)],
          next: undefined,
        });
      }
    });

    describe('of many rows', () => {
      const plan = async (query: JournalQuery<EntryKind>): Promise<string> => {
        const rows = await nodes()[0].run((sql) => sql`explain ${scan(query, undefined, 50)}`);
        return rows.map((row) => Object.values(row)[0]).join('\n');
      };
      beforeAll(async () => {
        await nodes()[0].run(
          (sql) => sql`
            insert into journal (id, kind, at_ms, request_id, tenant_id, key_id, subject, machine, target, part_of, code, detail)
            select 'of many ' || kind || n, kind, ${DAY_BEGIN}::int8 + n, 'of many ' || n, 'tenant' || n % 100, 'key' || n % 7,
              'subject' || n % 500, case when kind = 'transition' then 'voice-session' end, 'target' || n % 500,
              case when kind = 'act' and n % 10 > 0 then 'tenant' end, 'CODE' || n % 50, '{}'
            from generate_series(1, 5000) as n, unnest('{transition,refusal,act}'::text[]) as kind`,
        );
        await nodes()[0].run((sql) => sql`analyze journal`);
      });
      afterAll(() => nodes()[0].run((sql) => sql`delete from journal where id like 'of many %'`));

      test.each<[string, JournalQuery<EntryKind>]>([
        ['journal_newest_of_tenant', { kinds: ['refusal'], tenants: ['tenant1'], code: 'CODE1', network: 'x' }],
        ['journal_newest_of_tenant', { kinds: ['refusal'], tenants: ['tenant1', 'tenant2'], network: 'x' }],
        ['journal_newest_of_tenant', { kinds: ['act'], tenants: ['tenant1', 'tenant2'], actor: 'somebody' }],
        ['journal_refusal_of_code', { kinds: ['refusal'], tenants: '*', code: 'CODE1' }],
        ['journal_refusal_of_subject', { kinds: ['refusal'], tenants: '*', subject: 'subject1', fromMs: DAY_BEGIN }],
        ['journal_refusal_of_subject', { kinds: ['refusal'], tenants: ['tenant1', 'tenant2'], subject: 'subject1' }],
        ['journal_newest_of_target', { kinds: ['transition', 'note'], tenants: '*', ...of('target1') }],
        ['journal_newest_of_target', { kinds: ['act'], tenants: '*', target: 'target1' }],
        ['journal_act_whole on', { kinds: ['act'], tenants: '*', isFolded: true }],
        ['journal_act_whole_of_actor', { kinds: ['act'], tenants: '*', isFolded: true, actor: 'somebody' }],
        ['journal_act_whole_of_tenant', { kinds: ['act'], tenants: ['tenant1', 'tenant2'], isFolded: true }],
        ['journal_refusal_of_request', { kinds: ['refusal'], tenants: '*', requestId: 'of many 1' }],
      ])('finds them by %s: %j', async (index, query) => {
        const text = await plan(query);
        expect(text).toContain(index);
        expect(text).not.toMatch(/Seq Scan on journal|journal_newest on/);
      });
    });
  });

  describe(`an act, ${name}`, () => {
    const journal = nodesOf(storesOf(nodes, createPostgresJournal));
    const resultsOf = async (target: string) =>
      (await journal().list({ kinds: ['act'], tenants: '*', target }, undefined, 9)).entries.map(
        ({ detail }) => detail.result,
      );

    test('is written before a change and its result after it, whatever becomes of the change', async () => {
      const target = randomId();
      const one = () => act({ of: { target } });
      const done = () => 'done' as const;
      expect(await audited(journal(), one(), () => resultsOf(target), done)).toEqual([null]);
      const fault = new Error('no');
      await expect(audited(journal(), one(), () => Promise.reject(fault), done)).rejects.toBe(fault);
      expect(await resultsOf(target)).toEqual(['failed', 'done']);
    });

    test('keeps a change whose result cannot be written, and prevents one whose entry cannot be written', async () => {
      const away = () => Promise.reject(new Unavailable('database'));
      const half = { append: () => Promise.resolve(), settle: away };
      const done = () => 'done' as const;
      expect(await audited(half, act(), () => 'changed', done)).toBe('changed');
      let changes = 0;
      await expect(audited({ ...half, append: away }, act(), () => (changes += 1), done)).rejects.toThrow(Unavailable);
      expect(changes).toBe(0);
    });
  });
}
