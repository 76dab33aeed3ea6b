import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { DAY_MS, iso } from '../../kernel/time.ts';
import type { GivenFact } from '../webhooks/contract.ts';
import { writeGivenEvents } from '../webhooks/outbox.ts';
import { ASK_AGAIN_MS, RECONCILED_DAYS, type Drift, type ReconciledDay, type Reconciliations } from './contract.ts';
import { countDay } from './counted.ts';

/** Reconciled days in PostgreSQL, beside the ledger that they are counted from. */
export function createPostgresReconciliations(database: Database): Reconciliations {
  const { column, value, execute } = statementsOf(database);
  return {
    counted: (providers, fromMs, toMs) => countDay(database, providers, fromMs, toMs),

    async claim(day, upstream, atMs, notSinceMs) {
      return (
        (await execute`
        insert into reconciliation as kept (day, upstream, asked_at_ms) values (${day}, ${upstream}, ${atMs})
        on conflict (day, upstream) do update set asked_at_ms = excluded.asked_at_ms where kept.asked_at_ms < ${notSinceMs}
          or kept.asked_at_ms <= ${atMs - ASK_AGAIN_MS} and coalesce((kept.report::json ->> 'askedAtMs')::bigint, 0) < kept.asked_at_ms`) ===
        1
      );
    },

    async save(reconciled, mailTo) {
      const { day, upstream, state, unexplainedMicroDollars, askedAtMs } = reconciled;
      return database.transaction(async (sql) => {
        const [before] = await sql<{ report: string | null }[]>`
          select report from reconciliation where day = ${day} and upstream = ${upstream} for update`;
        const grown = grownSince(before?.report ?? null, reconciled);
        const facts = grown.map((drift) => ({ ...factOf(drift, reconciled), mailTo }));
        await sql`
          with saved as (
            insert into reconciliation as kept (day, upstream, state, unexplained, report, asked_at_ms)
            values (${day}, ${upstream}, ${state}, ${unexplainedMicroDollars}, ${JSON.stringify(reconciled)}, ${askedAtMs})
            on conflict (day, upstream) do update set state = excluded.state, unexplained = excluded.unexplained,
              report = excluded.report, asked_at_ms = excluded.asked_at_ms
            returning day
          ), ${writeGivenEvents(facts)}
          select day from saved`;
        return grown;
      });
    },

    async list(from, to) {
      const reports = await column<string>`
        select report from reconciliation where day >= ${from} and day < ${to} and report is not null order by day desc, upstream`;
      return reports.map((report) => JSON.parse(report) as ReconciledDay);
    },

    async readAtMs() {
      const at = await value<number | null>`
        select coalesce(max((report::json ->> 'askedAtMs')::bigint) filter (where state <> 'unreadable'), min(asked_at_ms))
        from reconciliation`;
      return at ?? undefined;
    },

    async unexplainedAt(atMs) {
      const from = iso(atMs - RECONCILED_DAYS * DAY_MS).slice(0, 10);
      return value<number>`select coalesce(sum(unexplained), 0)::bigint from reconciliation where day >= ${from}`;
    },
  };
}

/** The drifts of a day that are new, or greater than in the previous report. */
function grownSince(report: string | null, { drifts }: ReconciledDay): readonly Drift[] {
  const { drifts: before = [] } = (report === null ? {} : JSON.parse(report)) as Partial<ReconciledDay>;
  const known = new Map(before.map(({ model, microDollars }) => [model, microDollars]));
  return drifts.filter(({ model, microDollars }) => microDollars > (known.get(model) ?? 0));
}

function factOf({ model, microDollars }: Drift, reconciled: ReconciledDay): GivenFact {
  const { day, upstream, rows, ourMicroDollars, theirMicroDollars, estimatedMicroDollars, askedAtMs } = reconciled;
  const classes = rows.flatMap(({ model: of, class: name, ours, theirs, isEqual }) =>
    of === model && !isEqual ? [{ class: name, ours, theirs }] : [],
  );
  const whole = { ourMicroDollars, theirMicroDollars, estimatedMicroDollars };
  const data = { tenantId: null, day, upstream, model, microDollars, classes, ...whole };
  return { type: 'meter.drift', tenantId: null, atMs: askedAtMs, data };
}
