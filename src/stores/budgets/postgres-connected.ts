import { PATIENT, type AnySql, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { grouped } from '../grouped.ts';
import type { BudgetUse, CallsOf, ConnectedSpan, ConnectedTime } from './contract.ts';

/** Spans that cover only the last hours are no longer than this. */
const SHORT_MS = 2 * HOUR_MS;

interface ConnectedQuery {
  readonly of: CallsOf;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How calls are looked up. Queries of one kind share a statement, in which one index finds the calls. */
const ways = {
  session: sql`call.session_id = given."sessionId"`,
  subject: sql`call.subject = given.subject`,
  tenant: sql`
    call.tenant_id = given."tenantId" and (given."keyId" is null or call.key_id = given."keyId")
    and (given."agentId" is null or (select one.agent_id from voice_session as one where one.id = call.session_id) = given."agentId")`,
  installation: sql`true`,
};

type Way = keyof typeof ways;

/** How long calls were connected, from their records in PostgreSQL. */
export function createPostgresConnected(database: Database): BudgetUse['connected'] {
  const read = (way: Way) =>
    // In a transaction, where JIT compilation is off: this runs every second.
    grouped((asked: readonly ConnectedQuery[]) =>
      database.transaction((sql) => sumConnected(sql, way, asked), PATIENT),
    );
  const reads = () => ({
    session: read('session'),
    subject: read('subject'),
    tenant: read('tenant'),
    installation: read('installation'),
  });
  // Separate groups, so that a query over a month of calls does not delay those that run every second.
  const [ofHours, ofMore] = [reads(), reads()];
  return (of, fromMs, untilMs) => (untilMs - fromMs <= SHORT_MS ? ofHours : ofMore)[wayOf(of)]({ of, fromMs, untilMs });
}

/** Until when the call of a row was connected; null while it is. Calls whose closing no version noted have only `closed_at_ms`. */
const connectedUntil = sql`least(coalesce(closing_at_ms, closed_at_ms), provider_ends_at_ms)`;

/** How long the call of a row was connected between two instants. */
export function connectedMs(fromMs: Fragment, untilMs: Fragment): Fragment {
  return sql`greatest(0, least(${connectedUntil}, ${untilMs}) - greatest(opened_at_ms, ${fromMs}))`;
}

/** See `BudgetUse.spansOf`. */
export function connectedSpans(database: Database, sessionIds: readonly string[]): Promise<readonly ConnectedSpan[]> {
  return statementsOf(database).query<ConnectedSpan>`
    select session_id, opened_at_ms as from_ms, ${connectedUntil} as until_ms
    from voice_call
    where session_id = any(${[...sessionIds]}::text[]) and opened_at_ms is not null and (closed_at_ms is not null or state <> 'closed')
    order by opened_at_ms, id`;
}

function wayOf(of: CallsOf): Way {
  if ('sessionId' in of) return 'session';
  if ('subject' in of) return 'subject';
  return of.tenantId === null ? 'installation' : 'tenant';
}

function sumConnected(sql: AnySql, way: Way, asked: readonly ConnectedQuery[]) {
  const rows = asked.map(({ of, ...span }) => ({ ...of, ...span }));
  return sql<ConnectedTime[]>`
    select used.* from json_to_recordset(${JSON.stringify(rows.map((row, n) => ({ ...row, n })))}::text::json) as given (n integer,
      "sessionId" text, subject text, "tenantId" text, "keyId" text, "agentId" text, "fromMs" bigint, "untilMs" bigint)
    cross join lateral (select "fromMs" as from_ms, "untilMs" as until_ms) as asked
    cross join lateral (
      select coalesce(sum(${connectedMs(sql`asked.from_ms`, sql`asked.until_ms`)}), 0)::bigint as ms,
        count(*) filter (where coalesce(closing_at_ms, closed_at_ms) is null and coalesce(provider_ends_at_ms > asked.until_ms, true))::integer as calls
      from voice_call as call
      where opened_at_ms < asked.until_ms and (closed_at_ms > asked.from_ms or (closed_at_ms is null and state <> 'closed'))
        and ${ways[way]}
    ) as used order by n`;
}
