import type { AnySql, TransactionSql } from '../../database/database.ts';
import type { UsageBy } from '../../protocol/operator/usage.ts';
import { MAX_SCANNED, type UsageAsked } from './contract.ts';

type Fragment = ReturnType<TransactionSql>;

/**
 * The rows that a report reads: (at, id, tenant_id, key_id, tokens, micro_dollars, meant), one more than MAX_SCANNED at most. The id is null
 * where the usage is nobody's; what is not meant counts as read and as nothing else.
 */
export function scan(sql: AnySql, asked: UsageAsked): Fragment {
  const { by, span, fromDay, toDay, fromMs, toMs, tenants } = asked;
  if (by === 'session') {
    const at: Fragment = span === 'day' ? sql`day` : sql`at_ms - at_ms % 3600000`;
    return fromEntries(sql, by, at, sql`at_ms >= ${fromMs} and at_ms < ${toMs}`, tenants);
  }
  return span === 'day' || by === 'subject'
    ? fromSums(sql, by, 'usage_day', sql`day >= ${fromDay} and day <= ${toDay}`, tenants)
    : fromSums(sql, by, 'usage_hour', sql`hour_ms >= ${fromMs} and hour_ms < ${toMs}`, tenants);
}

/** The same of what was used from an instant on, by entries where hours do not tell whose it was. */
export function scanSince(sql: AnySql, by: UsageBy, sinceMs: number, tenants: readonly string[] | undefined): Fragment {
  return by === 'subject' || by === 'session'
    ? fromEntries(sql, by, sql`at_ms`, sql`at_ms >= ${sinceMs}`, tenants)
    : fromSums(sql, by, 'usage_hour', sql`hour_ms >= ${sinceMs}`, tenants);
}

/** Sums of tenants are found by an index of theirs. */
function fromSums(
  sql: AnySql,
  by: UsageBy,
  table: 'usage_day' | 'usage_hour',
  within: Fragment,
  tenants: readonly string[] | undefined,
): Fragment {
  const at: Fragment = table === 'usage_day' ? sql`day` : sql`hour_ms`;
  return sql`
    select ${at} as at, ${idOf(sql, by)} as id, tenant_id, key_id, tokens, micro_dollars, true as meant
    from ${sql(table)} where ${within} and ${meant(sql, tenants)} limit ${MAX_SCANNED + 1}`;
}

/** Entries are found by their time alone, so that those of other tenants are read as well, and count. */
function fromEntries(
  sql: AnySql,
  by: UsageBy,
  at: Fragment,
  within: Fragment,
  tenants: readonly string[] | undefined,
): Fragment {
  return sql`
    select ${at} as at, ${idOf(sql, by)} as id, coalesce(tenant_id, '') as tenant_id, coalesce(key_id, '') as key_id, tokens,
      micro_dollars, coalesce(${meant(sql, tenants)}, false) as meant
    from (select * from usage_entry where ${within} limit ${MAX_SCANNED + 1}) as entry`;
}

function meant(sql: AnySql, tenants: readonly string[] | undefined): Fragment {
  return tenants === undefined ? sql`true` : sql`tenant_id = any(${[...tenants]}::text[])`;
}

/** Keys and agents are named within their tenant; ids hold no slash. */
function idOf(sql: AnySql, by: UsageBy): Fragment {
  const ids: Readonly<Record<UsageBy, () => Fragment>> = {
    subject: () => sql`subject`,
    tenant: () => sql`nullif(tenant_id, '')`,
    key: () => sql`case when key_id <> '' then tenant_id || '/' || key_id end`,
    agent: () => sql`case when agent_id <> '' then tenant_id || '/' || agent_id end`,
    // Its ref: the whole id is its caller's proof.
    session: () => sql`left(session_id, 42)`,
  };
  return ids[by]();
}
