import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/statements.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { HOUR_MS } from '../../src/kernel/time.ts';
import { FOREVER_MS } from '../../src/stores/counters/contract.ts';
import { createPostgresCounters } from '../../src/stores/counters/postgres.ts';
import { createPostgresLoginAddresses } from '../../src/stores/logins/postgres.ts';
import { createPostgresLedger } from '../../src/stores/ledger/postgres.ts';
import { CHUNK, type Purgeable, type KeptByDay } from '../../src/stores/retention/contract.ts';
import { deletion, foldUsageHours, createPostgresRetention } from '../../src/stores/retention/postgres.ts';
import { entryOf } from './roll-ups.ts';
import { atOnce, DAY_BEGIN } from './support.ts';

const DAY_MS = 86_400_000;
const ROWS_A_DAY = 6;
const DAYS = 365;

interface Table {
  readonly name: string;
  /** Writes rows for the days 0 (a year before DAY_BEGIN) to 364: `day_ms` is the start of the day, `n` the number of the row. */
  readonly fill: string;
}

const entries = (kind: string): string =>
  `insert into journal (id, kind, at_ms, request_id, code, detail) select 'year' || n, '${kind}', day_ms, 'year' || n, 'CODE', '{}' from rows order by n`;

const tables: Readonly<Record<Purgeable, Table>> = {
  sessions: {
    name: 'voice_session',
    fill: `insert into voice_session select 's:' || md5(n::text) || ':' || n, md5(n::text), 'widget', 'acme', null, 'site', false, null,
      'local', 'up', day_ms, day_ms, day_ms, day_ms, case when n % 6 = 0 then null else day_ms end,
      case when n % 6 = 0 then null else 'closed_by_client' end, case when n % 6 = 0 then 'stale' else 'ended' end, 1 from rows`,
  },
  calls: {
    name: 'voice_call',
    fill: `insert into voice_call (id, session_id, subject, tenant_id, provider, model, state, created_at_ms, closed_at_ms, hangup,
      hangup_tries, owner_node, fence, version) select 'call_' || n, 's:' || n, 'year', 'acme', 'local', 'echo',
      case when n % 6 = 0 then 'open' else 'closed' end, day_ms, case when n % 6 = 0 then null else day_ms end, 'none', 0, 'node', 1, 1
      from rows`,
  },
  liveNodes: { name: 'live_node', fill: `insert into live_node select 'year' || n, day_ms from rows` },
  usageEntries: {
    name: 'usage_entry',
    fill: `insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tokens_after, micro_dollars_after)
      select 'year', day, day_ms, 1, 1, 1, 1 from rows order by n`,
  },
  usageTotals: { name: 'usage_total', fill: `insert into usage_total select 'year' || n, day, 1, 1 from rows` },
  usageDays: { name: 'usage_day', fill: `insert into usage_day select day, 'year' || n, '', '', '', 1, 1 from rows` },
  usageHours: {
    name: 'usage_hour',
    fill: `insert into usage_hour select day_ms, 'year' || n, '', '', 1, 1, 1 from rows`,
  },
  usageKeys: { name: 'usage_key', fill: `insert into usage_key select 'year', 'key' || n, 'body', day_ms from rows` },
  usageSessions: {
    name: 'usage_session',
    fill: `insert into usage_session select 'year' || n, 1, 1, day_ms from rows`,
  },
  usageHolds: { name: 'usage_hold', fill: `insert into usage_hold select 'year' || n, 'year', 1, 1, day_ms from rows` },
  callMeters: {
    name: 'call_meter',
    fill: `insert into call_meter (call_id, basis, since_ms) select 'year' || n, 'events', day_ms from rows`,
  },
  acts: { name: 'journal', fill: entries('act') },
  transitions: { name: 'journal', fill: entries('transition') },
  notes: { name: 'journal', fill: entries('note') },
  lostEvents: { name: 'journal', fill: entries('lost') },
  refusals: { name: 'journal', fill: entries('refusal') },
  activityMinutes: {
    name: 'activity',
    fill: `insert into activity select 1, day_ms, 'started', 'widget', '', 'key' || n, 0, 1 from rows`,
  },
  activityHours: {
    name: 'activity',
    fill: `insert into activity select 60, day_ms, 'started', 'widget', '', 'key' || n, 0, 1 from rows`,
  },
  processes: { name: 'journal', fill: entries('process') },
  nodeMinutes: { name: 'node_minute', fill: `insert into node_minute select 'year' || n, day_ms, 1, day_ms from rows` },
  logins: {
    name: 'login',
    fill: `insert into login select 'year' || n, 'a@b.example', day_ms, day_ms, day_ms, null, null, 1 from rows`,
  },
  challenges: {
    name: 'otp_challenge',
    fill: `insert into otp_challenge select 'year' || n, 'year', 'hash', day_ms, day_ms, 0, 5, null, 1 from rows`,
  },
  counters: {
    name: 'counter',
    fill: `insert into counter select 'year' || n, day_ms - 60000, day_ms, 1, 1, 1 from rows`,
  },
  idempotentReplies: {
    name: 'replay',
    fill: `insert into replay select 'year' || n, 'body', 'token', null, day_ms from rows`,
  },
  callTickets: { name: 'call_ticket', fill: `insert into call_ticket select 'year' || n, 'session', day_ms from rows` },
  resumeTokens: {
    name: 'resume_token',
    fill: `insert into resume_token select 'year' || n, 'hash' || n, day_ms from rows`,
  },
  sessionSetups: {
    name: 'session_setup',
    fill: `insert into session_setup select 'year' || n, 'brokered', 'm', 'v', null, '[]', 'open', false, null, null, day_ms from rows`,
  },
  webhookEvents: {
    name: 'webhook_event',
    fill: `insert into webhook_event select 'year' || n, 'acme', 'session.ended', day_ms, '{}' from rows`,
  },
  budgetStates: {
    name: 'budget_state',
    fill: `insert into budget_state select 'acme', 'year' || n, day, 'tenant:acme', 50, null, 1, day_ms, 1 from rows`,
  },
  facts: { name: 'journal', fill: entries('fact') },
};

const kinds = Object.keys(tables) as Purgeable[];

/** @param nodes the connections of two nodes to one migrated database */
export function retentionContract(name: string, nodes: () => readonly [Database, Database]): void {
  describe(`retention, ${name}`, () => {
    const count = async (kind: Purgeable, where = 'true'): Promise<number> => {
      const [row] = await nodes()[0].run((sql) =>
        sql.unsafe<{ rows: number }[]>(`select count(*) as rows from ${tables[kind].name} where ${where}`),
      );
      return row?.rows ?? 0;
    };

    /** Empties the table and writes a year of rows into it. */
    const fill = async (kind: Purgeable): Promise<void> => {
      const rows = `with rows as (select n, ${DAY_BEGIN}::bigint - (${DAYS} - n / ${ROWS_A_DAY}) * ${DAY_MS}::bigint as day_ms,
        to_char(to_timestamp(${DAY_BEGIN / 1000}) at time zone 'UTC' - (${DAYS} - n / ${ROWS_A_DAY}) * interval '1 day', 'YYYY-MM-DD') as day
        from generate_series(0, ${DAYS * ROWS_A_DAY - 1}) as n)`;
      await nodes()[0].run((sql) => sql.unsafe(`delete from ${tables[kind].name}`));
      await nodes()[0].run((sql) => sql.unsafe(`${rows} ${tables[kind].fill}`));
      await nodes()[0].run((sql) => sql.unsafe(`analyze ${tables[kind].name}`));
    };

    const isByDay = (kind: Purgeable): kind is KeptByDay => kind === 'usageTotals' || kind === 'usageDays';

    const before = (kind: Purgeable, daysAgo: number): number | string =>
      isByDay(kind) ? new Date(DAY_BEGIN - daysAgo * DAY_MS).toISOString().slice(0, 10) : DAY_BEGIN - daysAgo * DAY_MS;

    const deleteSome = (database: Database, kind: Purgeable, daysAgo: number): Promise<number> => {
      const retention = createPostgresRetention(database);
      const over = before(kind, daysAgo);
      return isByDay(kind) ? retention.deleteDays(kind, String(over)) : retention.deleteSome(kind, Number(over));
    };

    test.each(kinds)('deletes %s of a year in chunks, until those of the last days are left', async (kind) => {
      await fill(kind);
      const live = kind === 'sessions' || kind === 'calls' ? 1 : 0;
      const over = (DAYS - 30) * (ROWS_A_DAY - live);
      const deleted: number[] = [];
      do deleted.push(await deleteSome(nodes()[0], kind, 30));
      while (deleted.at(-1) === CHUNK);
      expect(deleted).toEqual([...Array.from({ length: Math.floor(over / CHUNK) }, () => CHUNK), over % CHUNK]);
      expect(await count(kind)).toBe(30 * ROWS_A_DAY + (DAYS - 30) * live);
      expect(await deleteSome(nodes()[1], kind, 30)).toBe(0);
    });

    test('keeps the newest refusals when there are too many, and deletes the oldest in chunks', async () => {
      await fill('refusals');
      const retention = createPostgresRetention(nodes()[0]);
      const kept = 17 * ROWS_A_DAY;
      const beyondMs = (await retention.refusalsBeyond(kept)) ?? 0;
      const there = await count('refusals');
      const deleted: number[] = [];
      do deleted.push(await retention.deleteSome('refusals', beyondMs));
      while (deleted.at(-1) === CHUNK);
      expect(deleted).toEqual([CHUNK, CHUNK, there - 2 * CHUNK - kept]);
      expect(await count('refusals')).toBe(kept);
      expect(await count('refusals', `request_id = 'year${DAYS * ROWS_A_DAY - 1}'`)).toBe(1);
      expect(await retention.refusalsBeyond(kept + 1)).toBeUndefined();
    });

    test('forgets an address without a recent login or lift, unless it has wrong codes in a row', async () => {
      const addresses = createPostgresLoginAddresses(nodes()[0]);
      const counters = createPostgresCounters(nodes()[0]);
      const YEAR_MS = 365 * DAY_MS;
      const at = DAY_BEGIN - YEAR_MS;
      for (const old of ['old', 'guessed', 'back', 'lifted']) await addresses.loggedIn(old, at);
      await addresses.lift('once lifted', at);
      await addresses.loggedIn('back', DAY_BEGIN);
      await addresses.lift('lifted', DAY_BEGIN);
      await counters.take('row:guessed', 100, FOREVER_MS, at);
      const deleteAddresses = () => createPostgresRetention(nodes()[1]).deleteAddresses(DAY_BEGIN, 'row:');
      expect(await deleteAddresses()).toBe(2);
      const left = await nodes()[0].run(
        (sql) => sql`select subject from login_address where length(subject) < 22 order by subject`,
      );
      expect(left.map(({ subject }) => String(subject))).toEqual(['back', 'guessed', 'lifted']);
      await counters.clear('row:guessed');
      expect(await deleteAddresses()).toBe(1);
    });

    test('folds hours that are over to one row of all processes, and loses nothing that is counted meanwhile', async () => {
      const tenantId = randomId();
      const SHARDS = 3;
      const rows = sql`
        insert into usage_hour select ${DAY_BEGIN}::bigint + hour * ${HOUR_MS}::bigint, ${tenantId}, 'site', '', shard, 10, 1
        from generate_series(0, 2) as hour, generate_series(1, ${SHARDS}::integer) as shard`;
      await nodes()[0].run((driver) => driver`${rows}`);
      const retentions = nodes().map(createPostgresRetention);
      const foldAll = async (n: number): Promise<void> => {
        while (((await retentions[n % 2]?.foldHours(DAY_BEGIN + 2 * HOUR_MS)) ?? 0) >= CHUNK);
      };
      const LATE = 20;
      await atOnce(LATE, async (n) => {
        const entry = entryOf(randomId(), { tenantId, atMs: DAY_BEGIN + (n % 2) * HOUR_MS });
        await Promise.all([createPostgresLedger(nodes()[n % 2] as Database).record(entry), foldAll(n)]);
      });
      await foldAll(0);
      const found = await nodes()[0].run(
        (driver) => driver<{ hour: number; shard: number; keyId: string; tokens: number }[]>`
          select ((hour_ms - ${DAY_BEGIN}::bigint) / ${HOUR_MS}::bigint)::integer as hour, shard, key_id, tokens from usage_hour
          where tenant_id = ${tenantId} order by hour_ms, key_id, shard`,
      );
      const late = { shard: 0, keyId: '', tokens: (10 * LATE) / 2 };
      const site = { shard: 0, keyId: 'site', tokens: 10 * SHARDS };
      expect([...found]).toEqual([
        ...[0, 1].flatMap((hour) => [late, site].map((one) => ({ hour, ...one }))),
        ...[1, 2, 3].map((shard) => ({ hour: 2, shard, keyId: 'site', tokens: 10 })),
      ]);
    });

    test('never deletes a session that has not ended, however old', async () => {
      await fill('sessions');
      const live = await count('sessions', 'ended_at_ms is null');
      expect(live).toBeGreaterThan(100);
      while ((await deleteSome(nodes()[0], 'sessions', 0)) > 0);
      expect(await count('sessions')).toBe(live);
    });

    test.each(kinds)('deletes each row of %s once when two nodes delete at the same time', async (kind) => {
      await fill(kind);
      const there = await count(kind);
      const [one, other] = nodes();
      const deleted = await atOnce(6, (index) => deleteSome(index % 2 === 0 ? one : other, kind, 0));
      const left = await count(kind);
      expect(deleted.reduce((sum, rows) => sum + rows, 0)).toBe(there - left);
    });

    test.each(kinds)('finds %s by an index', async (kind) => {
      await fill(kind);
      const plan = await nodes()[0].run((sql) => sql`explain ${deletion(kind, before(kind, 364))}`);
      const text = plan.map((row) => Object.values(row)[0]).join('\n');
      expect(text).toMatch(/Index (Only )?Scan/);
      expect(text).not.toContain('Seq Scan');
    });

    test('finds hours that are not folded yet by an index', async () => {
      await fill('usageHours');
      const plan = await nodes()[0].run((driver) => driver`explain ${foldUsageHours(DAY_BEGIN - 364 * DAY_MS)}`);
      expect(plan.map((row) => Object.values(row)[0]).join('\n')).toContain('usage_hour_by_process');
    });
  });
}
