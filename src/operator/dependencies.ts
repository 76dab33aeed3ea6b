import type { Clock } from '../kernel/clock.ts';
import type { DependencyState } from '../protocol/operator/node.ts';

type Name = DependencyState['name'];

/** Nobody asks these of themselves: what is seen of them are the faults of those who needed them. */
const SEEN_BY_FAULTS = ['mail', 'provider'] as const satisfies Name[];
const IN_ORDER = ['database', 'registry', ...SEEN_BY_FAULTS] as const;
/** So long after its last fault such a one counts as well again. */
const WELL_AFTER_MS = 60_000;

export interface DependenciesDeps {
  /** Each rejects when it does not answer. */
  readonly probes: Readonly<Record<Exclude<Name, (typeof SEEN_BY_FAULTS)[number]>, () => Promise<unknown>>>;
  /** How often one was away when it was needed. */
  readonly faultsOf: (name: Name) => number;
  readonly clock: Clock;
}

interface Seen {
  readonly state: DependencyState['state'];
  readonly latencyMs: number | null;
  readonly sinceMs: number;
  readonly lastError: string | null;
}

/** What a process stands on, and how well each of that is. */
export class Dependencies {
  readonly #deps: DependenciesDeps;
  readonly #startedAtMs: number;
  readonly #seen = new Map<Name, Seen>();
  readonly #faults = new Map<Name, { readonly count: number; readonly atMs: number }>();

  constructor(deps: DependenciesDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.clock.now();
  }

  /** As they were found last; nothing before the first look. */
  list(): DependencyState[] {
    return IN_ORDER.flatMap((name) => {
      const seen = this.#seen.get(name);
      if (seen === undefined) return [];
      const { state, latencyMs, sinceMs, lastError } = seen;
      return [{ name, state, latencyMs, since: new Date(sinceMs).toISOString(), lastError }];
    });
  }

  /** Asks those that answer, and looks at the faults of the others. Never rejects. */
  async look(): Promise<void> {
    const { database, registry } = this.#deps.probes;
    await Promise.all([this.#ask('database', database), this.#ask('registry', registry)]);
    for (const name of SEEN_BY_FAULTS) this.#lookAtFaults(name);
  }

  async #ask(name: Name, probe: () => Promise<unknown>): Promise<void> {
    const startedAt = performance.now();
    try {
      await probe();
      this.#note(name, 'ok', Math.round((performance.now() - startedAt) * 10) / 10, null);
    } catch (fault) {
      this.#note(name, 'away', null, kindOf(fault));
    }
  }

  #lookAtFaults(name: Name): void {
    const now = this.#deps.clock.now();
    const count = this.#deps.faultsOf(name);
    const before = this.#faults.get(name);
    if (count > (before?.count ?? 0)) this.#faults.set(name, { count, atMs: now });
    const last = this.#faults.get(name);
    const isWell = last === undefined || now - last.atMs >= WELL_AFTER_MS;
    this.#note(name, isWell ? 'ok' : 'away', null, isWell ? null : 'fault');
  }

  #note(name: Name, state: Seen['state'], latencyMs: number | null, error: string | null): void {
    const before = this.#seen.get(name);
    const first = state === 'ok' ? this.#startedAtMs : this.#deps.clock.now();
    const sinceMs = before === undefined ? first : before.state === state ? before.sinceMs : this.#deps.clock.now();
    this.#seen.set(name, { state, latencyMs, sinceMs, lastError: error ?? before?.lastError ?? null });
  }
}

/** What kind of fault it was: its words may name hosts and people. */
function kindOf(fault: unknown): string {
  const cause = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault;
  if (!(cause instanceof Error)) return 'fault';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
