import { type Database, PATIENT } from '../../database/database.ts';
import { statementsOf, sql, type Fragment } from '../../database/statements.ts';
import { DAY_MS, iso, HOUR_MS } from '../../kernel/time.ts';
import type { GivenFact } from '../webhooks/contract.ts';
import { writeGivenEvents } from '../webhooks/outbox.ts';
import {
  ASK_AGAIN_MS,
  RECONCILED_DAYS,
  type Drift,
  type ReconciledDay,
  type Reconciliations,
  MAX_CAUSES,
  MAX_COUNTED,
  type Causes,
  type CountedDay,
  type CountedModel,
  type Gap,
} from './contract.ts';
import { isUnpriced, modelOfSnapshot, NO_TOKENS, OWN_PRICE } from '../../protocol/price.ts';
import { addTokens, tokensOf } from '../ledger/contract.ts';

/** Reconciled days in PostgreSQL, beside the ledger that they are counted from. */
export function createPostgresReconciliations(database: Database): Reconciliations {
  const { column, value, some } = statementsOf(database);
  return {
    counted: (providers, fromMs, toMs) => countDay(database, providers, fromMs, toMs),

    claim: (day, upstream, atMs, notSinceMs) => some`
        insert into reconciliation as kept (day, upstream, asked_at_ms) values (${day}, ${upstream}, ${atMs})
        on conflict (day, upstream) do update set asked_at_ms = excluded.asked_at_ms where kept.asked_at_ms < ${notSinceMs}
          or kept.asked_at_ms <= ${atMs - ASK_AGAIN_MS} and coalesce((kept.report::json ->> 'askedAtMs')::bigint, 0) < kept.asked_at_ms`,

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

interface ModelRow {
  readonly model: string;
  readonly priceVersion: string;
  readonly classes: readonly number[] | null;
  readonly microDollars: number;
  readonly estimated: number;
  readonly isUnclassed: boolean;
}

/** How long a call that nobody hears may go on after its session's end, or after the provider was asked to hang it up: providers allow an hour. */
const OUTLIVES_MS = HOUR_MS;

/** What was counted here for calls of these providers within [fromMs, toMs), and what may be behind differences. @throws Unavailable */
async function countDay(
  database: Database,
  providers: readonly string[],
  fromMs: number,
  toMs: number,
): Promise<CountedDay> {
  const { query, first } = statementsOf(database, PATIENT);
  const entries = entriesOf(providers, fromMs, toMs);
  const [models, gaps, unheard] = await Promise.all([
    query<ModelRow>`
      with entry as materialized (${entries}), class as (
        select model, price_version, nth, sum(amount)::bigint as amount
        from entry cross join lateral unnest(classes) with ordinality as given (amount, nth) group by model, price_version, nth
      )
      select model, price_version,
        (select array_agg(amount order by nth) from class
          where class.model = entry.model and class.price_version = entry.price_version) as classes,
        sum(micro_dollars)::bigint as "microDollars",
        coalesce(sum(micro_dollars) filter (where ${isEstimated}), 0)::bigint as estimated,
        bool_or(classes is null and basis = 'events' and not estimated and tokens > 0) as "isUnclassed"
      from entry group by model, price_version order by model, price_version`,
    query<Gap & { readonly calls: number }>`
      select call_id as call, sum(micro_dollars)::bigint as "microDollars", least(count(*) over (), ${MAX_COUNTED}) as calls
      from (${entries}) as entry where ${isEstimated}
      group by call_id order by "microDollars" desc, call_id limit ${MAX_CAUSES}`,
    first<Pick<Causes, 'directSessions' | 'unconfirmedCalls'>>`
      select (select count(*) from (
        select from voice_session where not heard and provider = any(${providers}::text[])
          and started_at_ms >= ${fromMs - DAY_MS} and started_at_ms < ${toMs}
          and (ended_at_ms is null or ended_at_ms >= ${fromMs - OUTLIVES_MS}) limit ${MAX_COUNTED}
      ) as direct) as direct_sessions, (select count(*) from (
        select from voice_call where hangup = 'unconfirmed' and provider = any(${providers}::text[])
          and closed_at_ms >= ${fromMs - OUTLIVES_MS} and created_at_ms < ${toMs} limit ${MAX_COUNTED}
      ) as lost) as unconfirmed_calls`,
  ]);
  return {
    models: byModel(models),
    microDollars: models.reduce((sum, { microDollars }) => sum + microDollars, 0),
    hasOwnPrices: models.some(({ priceVersion }) => priceVersion === OWN_PRICE),
    isUnclassed: models.some((row) => row.isUnclassed),
    causes: {
      gapCalls: gaps[0]?.calls ?? 0,
      gaps: gaps.map(({ call, microDollars }) => ({ call, microDollars })),
      ...causesIn(models),
      directSessions: unheard?.directSessions ?? 0,
      unconfirmedCalls: unheard?.unconfirmedCalls ?? 0,
    },
  };
}

/** A condition: whether the entry rests on an estimate, or on what a client reported in its place. */
const isEstimated = sql`(estimated or basis = 'reported')`;

function entriesOf(providers: readonly string[], fromMs: number, toMs: number): Fragment {
  return sql`
    select usage_entry.* from usage_entry left join voice_call on voice_call.id = usage_entry.call_id
    where usage_entry.at_ms >= ${fromMs} and usage_entry.at_ms < ${toMs} and call_id is not null and basis <> 'tool'
      -- A call that is no longer kept is taken to be of the present provider.
      and coalesce(voice_call.provider, ${providers[0] ?? ''}) = any(${providers}::text[])`;
}

/** Snapshots of a model are billed under its name or under their own: here they count as one model. */
function byModel(rows: readonly ModelRow[]): CountedModel[] {
  const models = new Map<string, CountedModel>();
  for (const { model: name, classes, estimated } of rows) {
    const model = modelOfSnapshot(name);
    const before = models.get(model) ?? { model, tokens: NO_TOKENS, estimatedMicroDollars: 0 };
    const tokens = addTokens(before.tokens, tokensOf(classes ?? []));
    models.set(model, { model, tokens, estimatedMicroDollars: before.estimatedMicroDollars + estimated });
  }
  return [...models.values()];
}

/** Models whose price was not known, or changed. */
function causesIn(rows: readonly ModelRow[]): Pick<Causes, 'unpriced' | 'repriced'> {
  const highest = rows.filter(({ priceVersion }) => isUnpriced(priceVersion));
  const unpriced = [...new Set(highest.map(({ model }) => model))];
  const listed = rows.filter(({ priceVersion }) => priceVersion !== OWN_PRICE && !isUnpriced(priceVersion));
  const repriced = [...new Set(listed.map(({ model }) => model))]
    .map((model) => ({
      model,
      versions: listed.filter((row) => row.model === model).map(({ priceVersion }) => priceVersion),
    }))
    .filter(({ versions }) => versions.length > 1);
  return { unpriced: unpriced.slice(0, MAX_CAUSES), repriced: repriced.slice(0, MAX_CAUSES) };
}
