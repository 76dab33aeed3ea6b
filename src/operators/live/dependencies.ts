import { type Clock, MINUTE_MS, iso } from '../../kernel/time.ts';
import type { WorkHealth } from '../../kernel/passive-health.ts';
import type { DependencyState } from '../../protocol/operator/node.ts';

type Name = DependencyState['name'];

/** Judged by a probe and by the results of real work. */
const PROBED = ['database', 'registry'] as const satisfies Name[];
/** Never probed: judged only by the faults of callers that needed them. */
const SEEN_BY_FAULTS = ['mail', 'provider'] as const satisfies Name[];
/** Time after its last fault at which a dependency without a probe counts as well again. */
const WELL_AFTER_MS = MINUTE_MS;

type ProbedName = (typeof PROBED)[number];

export interface DependenciesDeps {
  /** Each rejects when the dependency does not answer or accepts no writes. */
  readonly probes: Readonly<Record<ProbedName, () => Promise<unknown>>>;
  /** Recent results of real work: a probe may succeed where work fails. */
  readonly health: Readonly<Record<ProbedName, WorkHealth>>;
  /** How often a dependency was away when it was needed. */
  readonly faultsOf: (name: Name) => number;
  /** Whether traces are sent to a collector, which is then judged by its faults too. */
  readonly hasCollector?: boolean;
  /** Receives the faults of probes. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
}

interface Probe {
  readonly latencyMs: number;
  /** Why it failed; undefined when it did not. */
  readonly fault: unknown;
}

interface Sighting {
  readonly state: DependencyState['state'];
  readonly latencyMs: number | null;
  readonly sinceMs: number;
  readonly lastError: string | null;
}

/**
 * The dependencies of a process and their health, judged by a probe every few seconds and by real work since. Reading it calls none of
 * them, so it can also report those that are away.
 */
export class Dependencies {
  readonly #deps: DependenciesDeps;
  readonly #startedAtMs: number;
  readonly #seenByFaults: readonly Name[];
  readonly #probed = new Map<ProbedName, Probe>();
  readonly #seen = new Map<Name, Sighting>();
  readonly #faults = new Map<Name, { readonly count: number; readonly atMs: number }>();

  constructor(deps: DependenciesDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.clock.now();
    this.#seenByFaults = deps.hasCollector === true ? [...SEEN_BY_FAULTS, 'collector'] : SEEN_BY_FAULTS;
  }

  /** Their present states; empty before the first look. */
  list(): DependencyState[] {
    for (const name of PROBED) this.#judge(name);
    return [...PROBED, ...this.#seenByFaults].flatMap((name) => {
      const seen = this.#seen.get(name);
      if (seen === undefined) return [];
      const { state, latencyMs, sinceMs, lastError } = seen;
      return [{ name, state, latencyMs, since: iso(sinceMs), lastError }];
    });
  }

  /** Probes those that have a probe, and checks the faults of the others. Never rejects. */
  async look(): Promise<void> {
    await Promise.all(PROBED.map((name) => this.#probe(name)));
    for (const name of this.#seenByFaults) this.#lookAtFaults(name);
  }

  /** @throws the fault for which it counts as away, if it does */
  expectWell(name: ProbedName): void {
    const fault = this.#faultOf(name);
    if (fault !== undefined) throw fault;
  }

  async #probe(name: ProbedName): Promise<void> {
    const startedAt = performance.now();
    let fault: unknown;
    try {
      await this.#deps.probes[name]();
    } catch (error) {
      fault = error;
      this.#deps.onError(error);
    }
    this.#probed.set(name, { latencyMs: Math.round((performance.now() - startedAt) * 10) / 10, fault });
    this.#judge(name);
  }

  #faultOf(name: ProbedName): unknown {
    return this.#deps.health[name].failure() ?? this.#probed.get(name)?.fault;
  }

  #judge(name: ProbedName): void {
    const probed = this.#probed.get(name);
    if (probed === undefined) return;
    const fault = this.#faultOf(name);
    if (fault === undefined) this.#note(name, 'ok', probed.latencyMs, null);
    else this.#note(name, 'away', null, kindOf(fault));
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

  #note(name: Name, state: Sighting['state'], latencyMs: number | null, error: string | null): void {
    const before = this.#seen.get(name);
    const first = state === 'ok' ? this.#startedAtMs : this.#deps.clock.now();
    const sinceMs = before === undefined ? first : before.state === state ? before.sinceMs : this.#deps.clock.now();
    this.#seen.set(name, { state, latencyMs, sinceMs, lastError: error ?? before?.lastError ?? null });
  }
}

/** Only the kind of fault, because its message may name hosts and people. */
function kindOf(fault: unknown): string {
  const cause = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault;
  if (!(cause instanceof Error)) return 'fault';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
