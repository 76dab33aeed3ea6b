import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { HeldCallDeps } from '../deps.ts';
import { isOwnItem } from '../item-id.ts';
import type { UpstreamEvent } from '../../upstream/contract.ts';

/** The session is told again if its record does not show the words after this long. */
const AGAIN_MS = 2000;

type FirstWordsDeps = Pick<HeldCallDeps, 'clock' | 'sessions' | 'running'>;

/**
 * Whether the visitor of one held call was heard, for a session that ends soon unless they are (docs/contract.md, section 4.5). The session is told
 * at once, and again until its record says so.
 */
export class FirstWords {
  readonly #deps: FirstWordsDeps;
  readonly #sessionId: string;
  #heardAtMs: number | undefined;
  #toldAtMs = -Infinity;
  #areDue = false;

  constructor(sessionId: string, deps: FirstWordsDeps) {
    this.#sessionId = sessionId;
    this.#deps = deps;
  }

  /** Takes an event of the call. */
  hear(event: UpstreamEvent): void {
    if (this.#heardAtMs !== undefined || !areWords(event)) return;
    this.#heardAtMs = this.#deps.clock.now();
    this.#tell();
  }

  /** Takes the session's current record. */
  follow({ wordsDueAtMs }: Pick<VoiceRecord, 'wordsDueAtMs'>): void {
    this.#areDue = wordsDueAtMs > 0;
    this.#tell();
  }

  #tell(): void {
    const { running, sessions, clock } = this.#deps;
    const [heardAtMs, at] = [this.#heardAtMs, clock.now()];
    if (heardAtMs === undefined || !this.#areDue || at - this.#toldAtMs < AGAIN_MS) return;
    this.#toldAtMs = at;
    running.start((async () => sessions.noteSpoke(this.#sessionId, heardAtMs))());
  }
}

/**
 * Whether an event shows words of the visitor: they start to speak or hold the button; what they said becomes a turn or is transcribed; or they wrote
 * something. Not every call is transcribed, so speech counts without its text. Items that we add do not count.
 */
function areWords(event: UpstreamEvent): boolean {
  if (event.type === 'speech') return event.who === 'visitor' && event.isOn;
  if (event.type === 'transcript') return event.who === 'visitor' && !isOwnItem(event.item) && event.text.trim() !== '';
  return event.type === 'words';
}
