import type { Database } from '../../database/database.ts';
import { sql, statementsOf } from '../../database/statements.ts';
import type { ClockAgreement, ClockAgreements } from './contract.ts';

interface Row extends Omit<ClockAgreement, 'leads'> {
  readonly registryLeadMs: number | null;
  readonly sinceMs: number;
  readonly databaseLeadMs: number;
}

/** What nodes agree on about the time, in a table with one row. */
export function createPostgresClockAgreements(database: Database): ClockAgreements {
  const { first, write, some } = statementsOf(database);
  return {
    async read() {
      const row = await first<Row>`
        select ${nowMs} as "databaseMs", registry_lead_ms, since_ms, database_lead_ms,
          coalesce(version, 0) as version, coalesce(vouched, 0) as vouched,
          ${nowMs} - coalesce(vouched_at_ms, 0) as "vouchedAgoMs"
        from (select) as always left join agreed_time on true`;
      if (row === undefined) throw new Error('the database told no time');
      const { registryLeadMs, sinceMs, databaseLeadMs, ...rest } = row;
      const leads =
        registryLeadMs === null ? undefined : { registryMs: registryLeadMs, sinceMs, databaseMs: databaseLeadMs };
      return { ...rest, leads };
    },

    vouch: () => write`update agreed_time set vouched = vouched + 1, vouched_at_ms = ${nowMs}`,

    note: ({ registryMs, sinceMs, databaseMs }, version) => some`
        insert into agreed_time as kept
          (version, registry_lead_ms, since_ms, database_lead_ms, vouched, vouched_at_ms)
        values (1, ${Math.round(registryMs)}, ${Math.round(sinceMs)}, ${Math.round(databaseMs)}, 1, ${nowMs})
        on conflict (id) do update
        set version = kept.version + 1, registry_lead_ms = excluded.registry_lead_ms, since_ms = excluded.since_ms,
          database_lead_ms = excluded.database_lead_ms, vouched = kept.vouched + 1, vouched_at_ms = excluded.vouched_at_ms
        where kept.version = ${version}
        returning 1`,
  };
}

const nowMs = sql`(extract(epoch from clock_timestamp()) * 1000)::int8`;
