import { ifAway } from '../kernel/errors.ts';
import { keepNewest } from '../kernel/keep-newest.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Asking, ChallengedKey, SuspectList } from './contract.ts';

/** How long an address stays suspect after the last thing that made it so. */
const TROUBLE_MS = 10 * 60_000;
/** Beyond it those that were suspect first are forgotten. */
const MAX_ADDRESSES = 50_000;
/** What is known of a key's totals may be so old. */
const SHARE_MS = 10_000;
const MAX_KEYS = 10_000;
const KEY_SHARE = 0.8;

export interface SuspectsDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** How much of that total is used of which the least is left, of the key's own and of its tenant's: 1 is all. @throws Unavailable */
  readonly readShare: (key: ChallengedKey, atMs: number) => Promise<number>;
  readonly onError: (fault: unknown) => void;
  /** Whether anybody is challenged here: else nothing need be known. */
  readonly isOn: () => boolean;
}

/**
 * What makes callers suspect beside their headers. All of it is known in this process when it is asked for, so that an ordinary create waits
 * for nothing: nodes tell each other of addresses, and how much of a key's totals is used is read again behind the answer.
 */
export class Suspects implements SuspectList {
  readonly #deps: SuspectsDeps;
  /** Until when each is suspect, in milliseconds. */
  readonly #addresses = new Map<string, number>();
  readonly #shares = new Map<string, { readonly readAtMs: number; readonly share: number }>();

  constructor(deps: SuspectsDeps) {
    this.#deps = deps;
    deps.bus.subscribe((message) => {
      if (message.type === 'address.suspect') this.#remember(message.address, message.untilMs);
    });
  }

  /** Words of ours for each thing that makes the caller suspect. */
  reasonsFor({ key, address, window }: Asking, atMs: number): readonly string[] {
    const reasons: string[] = [];
    if (address !== undefined) {
      if (window !== undefined && 2 * window.remaining < window.limit)
        reasons.push('its address has used half of its minute');
      if ((this.#addresses.get(address) ?? 0) > atMs)
        reasons.push('its address was refused, or left a session at once, in the last ten minutes');
    }
    if (this.#shareOf(key, atMs) >= KEY_SHARE) reasons.push('its key has used most of a total');
    return reasons;
  }

  /** The address had a create refused, or has left a session at once. Nodes are told when it was not known, or is half forgotten. */
  noteTrouble(address: string, atMs: number): void {
    if (!this.#deps.isOn()) return;
    const untilMs = atMs + TROUBLE_MS;
    if ((this.#addresses.get(address) ?? 0) < untilMs - TROUBLE_MS / 2)
      this.#deps.bus.publish({ type: 'address.suspect', address, untilMs });
    this.#remember(address, untilMs);
  }

  #remember(address: string, untilMs: number): void {
    const known = this.#addresses.get(address) ?? 0;
    this.#addresses.delete(address);
    keepNewest(this.#addresses.set(address, Math.max(known, untilMs)), MAX_ADDRESSES);
  }

  /** What was read last, which is nothing at first. */
  #shareOf(key: ChallengedKey, atMs: number): number {
    const name = `${key.tenantId}/${key.id}`;
    const known = this.#shares.get(name);
    if (known === undefined || Math.abs(atMs - known.readAtMs) >= SHARE_MS)
      void this.#read(name, key, atMs, known?.share ?? 0);
    return known?.share ?? 0;
  }

  async #read(name: string, key: ChallengedKey, atMs: number, before: number): Promise<void> {
    const { readShare, onError } = this.#deps;
    // Those who come meanwhile do not read as well.
    keepNewest(this.#shares.set(name, { readAtMs: atMs, share: before }), MAX_KEYS);
    try {
      const share = await readShare(key, atMs).catch(ifAway(() => before));
      this.#shares.set(name, { readAtMs: atMs, share });
    } catch (fault) {
      onError(fault);
    }
  }
}
