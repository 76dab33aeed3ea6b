/** Louder than a quiet room, in decibels below full scale. */
const LOUD_DB = 45;
/** If there is no level, a packet's size decides: Opus needs at most 20 bytes for silence, and 60 to 140 for speech. */
const LOUD_BYTES = 50;
/** Fewer consecutive loud packets are just a click. */
const BEGIN_PACKETS = 3;
/** A silence of this length ends an utterance. */
const HANGOVER_MS = 500;
const PACKET_MS = 20;

export interface Utterance {
  readonly startMs: number;
  readonly endMs: number;
}

/** Detects utterances in a stream of audio packets, by the level that browsers measure (RFC 6464) or by the size of packets. */
export class SpeechDetector {
  #loudInARow = 0;
  #startMs: number | undefined;
  #lastLoudMs = 0;

  /** When the current utterance began; undefined in silence. */
  get startMs(): number | undefined {
    return this.#startMs;
  }

  /** @param levelDb in decibels below full scale, 0 to 127 @returns whether an utterance begins with this packet */
  hear(nowMs: number, levelDb: number | undefined, bytes: number): boolean {
    const isLoud = levelDb === undefined ? bytes > LOUD_BYTES : levelDb < LOUD_DB;
    this.#loudInARow = isLoud ? this.#loudInARow + 1 : 0;
    if (isLoud) this.#lastLoudMs = nowMs;
    if (this.#startMs !== undefined || this.#loudInARow < BEGIN_PACKETS) return false;
    this.#startMs = nowMs - (BEGIN_PACKETS - 1) * PACKET_MS;
    return true;
  }

  /** @returns the utterance that has ended by now, only once */
  takeEnded(nowMs: number): Utterance | undefined {
    const startMs = this.#startMs;
    if (startMs === undefined || nowMs - this.#lastLoudMs <= HANGOVER_MS) return undefined;
    return this.take();
  }

  /** Ends the current utterance. @returns it; undefined in silence */
  take(): Utterance | undefined {
    const startMs = this.#startMs;
    this.#startMs = undefined;
    return startMs === undefined ? undefined : { startMs, endMs: this.#lastLoudMs };
  }
}
