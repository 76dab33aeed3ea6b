import { type Clock, DAY_MS, HOUR_MS, iso } from '../kernel/time.ts';
import { RECONCILED_DAYS, type ReconciledDay, type Reconciliations } from '../stores/reconciliations/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { UpstreamFault, type ProviderUsageReader } from '../upstream/contract.ts';
import { verdictOf, type WorthOf } from './verdict.ts';

/** Hour in UTC by which providers have most of the day before. */
const FROM_HOUR = 6;

export interface ReconcileDeps {
  readonly store: Reconciliations;
  readonly reader: ProviderUsageReader;
  readonly worthOf: WorthOf;
  /** E-mail addresses of the operators who are told. */
  readonly mailTo: readonly string[];
  readonly clock: Clock;
  readonly events: Pick<Events, 'meterDrifted' | 'dependencyAway'>;
}

/**
 * Reads a day from the provider, saves the comparison, and reports differences that nothing explains: once, and again only if they have
 * grown. It never corrects anything (docs/operations.md, Reconciliation).
 * @param day YYYY-MM-DD, in UTC
 * @throws UpstreamFault where the provider does not answer, and the day stays as it was; Unavailable when the database is away
 */
export async function reconcileDay(day: string, deps: ReconcileDeps): Promise<ReconciledDay> {
  const { store, reader, worthOf, mailTo, clock, events } = deps;
  const fromMs = Date.parse(day);
  const ours = await store.counted(reader.providers, fromMs, fromMs + DAY_MS);
  const about = { day, upstream: reader.upstream, causes: ours.causes, askedAtMs: clock.now() };
  const reconciled = await reader.read(fromMs, fromMs + DAY_MS).then(
    (theirs): ReconciledDay => ({ ...about, ...verdictOf(ours, theirs, worthOf) }),
    (fault: unknown): ReconciledDay => {
      if (!(fault instanceof UpstreamFault) || fault.kind !== 'malformed') throw fault;
      events.dependencyAway('provider', fault, undefined, 'reconciliation');
      return { ...about, ...unreadable(ours.microDollars) };
    },
  );
  if ((await store.save(reconciled, mailTo)).length > 0) events.meterDrifted(reconciled);
  return reconciled;
}

function unreadable(ourMicroDollars: number) {
  const nothing = {
    rows: [],
    theirMicroDollars: null,
    estimatedMicroDollars: 0,
    unexplainedMicroDollars: 0,
    drifts: [],
  };
  return { state: 'unreadable', ourMicroDollars, ...nothing } as const;
}

/** Reconciles the last days once a day, from six in the morning (UTC), on one node only. Call it regularly. @throws Unavailable */
export async function reconcileWhatIsDue(deps: ReconcileDeps): Promise<void> {
  const { store, reader, clock, events } = deps;
  const atMs = clock.now();
  const todayMs = atMs - (atMs % DAY_MS);
  const sinceMs = todayMs + FROM_HOUR * HOUR_MS;
  if (atMs < sinceMs) return;
  for (let daysAgo = RECONCILED_DAYS; daysAgo > 0; daysAgo -= 1) {
    const day = iso(todayMs - daysAgo * DAY_MS).slice(0, 10);
    if (!(await store.claim(day, reader.upstream, atMs, sinceMs))) continue;
    try {
      await reconcileDay(day, deps);
    } catch (fault) {
      if (!(fault instanceof UpstreamFault)) throw fault;
      events.dependencyAway('provider', fault, undefined, 'reconciliation');
    }
  }
}
