import type { ConnectedSpan } from '../../stores/budgets/contract.ts';

/** A session whose calls are counted. */
export interface Talk {
  readonly account: string;
  /** Its calls that are connected now. */
  calls: number;
  isOver: boolean;
}

/** The connected time of an account at an instant, after which each of its calls adds a millisecond every millisecond. */
interface Sum {
  readonly ms: number;
  readonly calls: number;
  readonly atMs: number;
}

/** A call begins or ceases to be connected. */
interface Change {
  readonly atMs: number;
  readonly talk: Talk;
  readonly calls: 1 | -1;
}

/** An account uses its time up. */
export interface TimeUp {
  readonly atMs: number;
  readonly account: string;
}

export interface ReplayConnectedOptions {
  /** The time of each account in a period, after which it is to be reported; Infinity: none is. */
  readonly limitMs: number;
  /** Time before this instant does not count; -Infinity: all of it counts. */
  readonly fromMs: number;
  /** When the period of an instant is over; Infinity for one that never begins anew. */
  readonly resetAfter: (atMs: number) => number;
}

/** The connected time that a tried budget counts, by account, up to an instant that only moves forward. */
export class ReplayConnectedTime {
  readonly #options: ReplayConnectedOptions;
  readonly #sums = new Map<string, Sum>();
  /** What is to come, the next one last. */
  readonly #coming: (Change | TimeUp)[] = [];
  /** When each account uses its time up if nothing changes. */
  readonly #timesUp = new Map<string, TimeUp>();
  #resetAtMs: number | undefined;

  constructor(options: ReplayConnectedOptions) {
    this.#options = options;
  }

  /** Counts the calls of a session that begins now. */
  add(account: string, spans: readonly ConnectedSpan[]): Talk {
    const talk: Talk = { account, calls: 0, isOver: false };
    for (const { fromMs, untilMs } of spans) {
      const atMs = Math.max(fromMs, this.#options.fromMs);
      if (untilMs !== null && untilMs <= atMs) continue;
      this.#expect({ atMs, talk, calls: 1 });
      if (untilMs !== null) this.#expect({ atMs: untilMs, talk, calls: -1 });
    }
    return talk;
  }

  /** The session ends, and with it its calls. */
  end(talk: Talk, atMs: number): void {
    this.#count(talk.account, -talk.calls, atMs);
    talk.isOver = true;
  }

  /** How long calls of an account were connected in the present period, in milliseconds. */
  of(account: string, atMs: number): number {
    const sum = this.#sums.get(account);
    return sum === undefined ? 0 : sum.ms + sum.calls * (atMs - sum.atMs);
  }

  forget(account: string): void {
    this.#sums.delete(account);
    this.#forgetTimeUp(account);
  }

  /** Moves on to an instant. @yields accounts as they use their time up; before it goes on, sessions may be ended */
  *until(untilMs: number): Generator<TimeUp> {
    let resetAtMs = this.#resetAtMs ?? this.#options.resetAfter(untilMs);
    for (;;) {
      const next = this.#coming.at(-1);
      if (Math.min(next?.atMs ?? Infinity, resetAtMs) > untilMs) break;
      if (next === undefined || resetAtMs <= next.atMs) {
        this.#startPeriod(resetAtMs);
        resetAtMs = this.#options.resetAfter(resetAtMs);
        continue;
      }
      this.#coming.pop();
      if ('talk' in next) this.#change(next);
      else {
        this.#timesUp.delete(next.account);
        yield next;
      }
    }
    this.#resetAtMs = resetAtMs;
  }

  #startPeriod(atMs: number): void {
    for (const [account, { calls }] of this.#sums)
      if (calls === 0) this.#sums.delete(account);
      else this.#keep(account, { ms: 0, calls, atMs });
  }

  #change({ atMs, talk, calls }: Change): void {
    if (talk.isOver) return;
    talk.calls += calls;
    this.#count(talk.account, calls, atMs);
  }

  #count(account: string, calls: number, atMs: number): void {
    const before = this.#sums.get(account)?.calls ?? 0;
    // The calls of a forgotten account no longer count.
    if (before + calls >= 0) this.#keep(account, { ms: this.of(account, atMs), calls: before + calls, atMs });
  }

  #keep(account: string, sum: Sum): void {
    this.#sums.set(account, sum);
    this.#forgetTimeUp(account);
    const leftMs = Math.max(0, this.#options.limitMs - sum.ms) / sum.calls;
    if (!Number.isFinite(leftMs)) return;
    const timeUp = { atMs: sum.atMs + Math.ceil(leftMs), account };
    this.#timesUp.set(account, timeUp);
    this.#expect(timeUp);
  }

  #forgetTimeUp(account: string): void {
    const timeUp = this.#timesUp.get(account);
    if (timeUp === undefined) return;
    this.#timesUp.delete(account);
    this.#coming.splice(this.#coming.indexOf(timeUp, this.#placeOf(timeUp.atMs)), 1);
  }

  /** Of what comes at the same instant, the first that was expected comes first. */
  #expect(coming: Change | TimeUp): void {
    this.#coming.splice(this.#placeOf(coming.atMs), 0, coming);
  }

  /** Everything before this place comes later. */
  #placeOf(atMs: number): number {
    let [low, high] = [0, this.#coming.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#coming[middle]?.atMs ?? 0) > atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
