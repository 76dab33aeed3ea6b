import type { Dependency } from '../kernel/errors.ts';

/** Whose activity is counted. Names that strangers send are never used, otherwise anybody could fill the memory. */
export interface Whose {
  readonly tenantId?: string | null | undefined;
  readonly keyId?: string | null | undefined;
}

type Kind = 'started' | 'ended' | 'refused' | 'kept' | 'challenged' | 'mint' | 'dropped';

interface Count {
  readonly kind: Kind;
  readonly label: string;
  readonly tenantId: string;
  readonly keyId: string;
  n: number;
}

/** Upper bounds in seconds of the steps in which mints are counted; each is twice the one before. */
const MINT_STEPS = [0.125, 0.25, 0.5, 1, 2, 4, 8] as const;

/** What this process did since the counts were last taken: plain numbers in memory, which are stored elsewhere. */
export class Activity {
  #counts = new Map<string, Count>();
  #dropped = 0;
  readonly #refused: ((code: string, whose: Whose) => void)[] = [];
  readonly #faults = new Map<Dependency, number>();

  /** How many events and refusals could not be kept since the process began. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Calls the listener for each refusal as it is counted. */
  onRefused(listener: (code: string, whose: Whose) => void): void {
    this.#refused.push(listener);
  }

  count(kind: Kind, label: string, whose: Whose = {}): void {
    if (kind === 'dropped') this.#dropped += 1;
    if (kind === 'refused') for (const tell of this.#refused) tell(label, whose);
    const tenantId = whose.tenantId ?? '';
    const keyId = whose.keyId ?? '';
    const key = `${kind}\n${label}\n${tenantId}\n${keyId}`;
    const present = this.#counts.get(key);
    if (present === undefined) this.#counts.set(key, { kind, label, tenantId, keyId, n: 1 });
    else present.n += 1;
  }

  /** Counts a provider's answer by its duration. A caller that disconnected says nothing about the provider. */
  countMint(provider: string, outcome: string, seconds: number): void {
    if (outcome === 'caller_gone') return;
    const step = MINT_STEPS.find((most) => seconds <= most);
    const word = outcome === 'minted' ? 'ok' : outcome;
    this.count('mint', `${provider}|${word}|${step === undefined ? '>8' : `≤${step}`}`);
  }

  noteAway(dependency: Dependency): void {
    this.#faults.set(dependency, this.faultsOf(dependency) + 1);
  }

  /** How often a dependency was away when it was needed. */
  faultsOf(dependency: Dependency): number {
    return this.#faults.get(dependency) ?? 0;
  }

  /** Takes the counts since the last call. */
  take(): readonly Readonly<Count>[] {
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    return counts;
  }
}
