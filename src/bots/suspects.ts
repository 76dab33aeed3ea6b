import { ifAway } from '../kernel/errors.ts';
import { keepNewest } from '../kernel/collections.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { CreateAttempt, ChallengedKey, EndedSession, SuspectList } from './contract.ts';

/** How long an address stays suspect after its last trouble. */
const TROUBLE_MS = 10 * MINUTE_MS;
/** A session that its page ends this soon was not opened for a conversation. */
const AT_ONCE_MS = 5000;
/** Beyond this number the oldest suspect addresses are forgotten. */
const MAX_ADDRESSES = 50_000;
/** How old the cached share of a key's totals may be. */
const SHARE_MS = 10_000;
const MAX_KEYS = 10_000;
const KEY_SHARE = 0.8;

export interface SuspectsDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** The used share of the key's or its tenant's totals, whichever is nearest to its ceiling; 1 is all of it. @throws Unavailable */
  readonly readShare: (key: ChallengedKey, atMs: number) => Promise<number>;
  readonly onError: (fault: unknown) => void;
  /** Where nobody is challenged, nothing needs to be tracked. */
  readonly challenges: { readonly isOn: boolean };
}

/**
 * What makes callers suspect besides their headers. All of it is in this process's memory, so that an ordinary create waits for nothing:
 * nodes tell one another about addresses, and the used share of a key's totals is read again in the background.
 */
export class Suspects implements SuspectList {
  readonly #deps: SuspectsDeps;
  /** Until when each address is suspect, in milliseconds. */
  readonly #addresses = new Map<string, number>();
  readonly #shares = new Map<string, { readonly readAtMs: number; readonly share: number }>();

  constructor(deps: SuspectsDeps) {
    this.#deps = deps;
    deps.bus.subscribe({ 'address.suspect': ({ address, untilMs }) => this.#remember(address, untilMs) });
  }

  /** Each reason why the caller is suspect, in our words. */
  reasonsFor({ key, address, window }: CreateAttempt, atMs: number): readonly string[] {
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

  /** Notes that a create from the address was refused, or that it left a session at once. Tells other nodes unless it was noted recently. */
  noteTrouble(address: string, atMs: number): void {
    if (!this.#deps.challenges.isOn) return;
    const untilMs = atMs + TROUBLE_MS;
    if ((this.#addresses.get(address) ?? 0) < untilMs - TROUBLE_MS / 2)
      this.#deps.bus.publish({ type: 'address.suspect', address, untilMs });
    this.#remember(address, untilMs);
  }

  noteEnd({ startedAtMs, endedAtMs }: EndedSession, address: string, atMs: number): void {
    if (endedAtMs !== null && endedAtMs - startedAtMs < AT_ONCE_MS) this.noteTrouble(address, atMs);
  }

  #remember(address: string, untilMs: number): void {
    const known = this.#addresses.get(address) ?? 0;
    this.#addresses.delete(address);
    keepNewest(this.#addresses.set(address, Math.max(known, untilMs)), MAX_ADDRESSES);
  }

  /** The share that was last read; 0 at first. */
  #shareOf(key: ChallengedKey, atMs: number): number {
    const name = `${key.tenantId}/${key.id}`;
    const known = this.#shares.get(name);
    if (known === undefined || Math.abs(atMs - known.readAtMs) >= SHARE_MS)
      void this.#read(name, key, atMs, known?.share ?? 0);
    return known?.share ?? 0;
  }

  async #read(name: string, key: ChallengedKey, atMs: number, before: number): Promise<void> {
    const { readShare, onError } = this.#deps;
    // Set before reading, so that concurrent requests do not read as well.
    keepNewest(this.#shares.set(name, { readAtMs: atMs, share: before }), MAX_KEYS);
    try {
      const share = await readShare(key, atMs).catch(ifAway(() => before));
      this.#shares.set(name, { readAtMs: atMs, share });
    } catch (fault) {
      onError(fault);
    }
  }
}
