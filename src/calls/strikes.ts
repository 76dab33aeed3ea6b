import { MINUTE_MS } from '../kernel/time.ts';

/** With this strike the call is hung up. */
const MAX_STRIKES = 3;
const WINDOW_MS = MINUTE_MS;
/** Changes in a minute that are only put back; one more is a strike. */
const MAX_CHANGES = 3;
/** How often the provider's own SDK configures its session as it connects. It does so once more for each agent that a tool hands over to. */
const SDK_CONNECTS = 2;

/**
 * What a page does that differs from what it may do, and costs (docs/contract.md, section 5.10): a response too many or too long, one of a
 * session that it changed, and change after change. The third is the last.
 */
export class Strikes {
  readonly #tampered: () => void;
  #strikes = 0;
  #changedAtMs: readonly number[] = [];
  #excused = SDK_CONNECTS;
  /** The page changed its session, which is not put back yet. */
  #isChanged = false;

  /** @param tampered is told of the third strike, once */
  constructor(tampered: () => void) {
    this.#tampered = tampered;
  }

  strike(): void {
    this.#strikes += 1;
    if (this.#strikes === MAX_STRIKES) this.#tampered();
  }

  /** The page changed what it may not. @param isAsSdk as the provider's own SDK does when it connects, or hands over to another agent */
  changed(isAsSdk: boolean, atMs: number): void {
    if (isAsSdk && this.#excused > 0) {
      this.#excused -= 1;
      return;
    }
    this.#isChanged = true;
    const recent = this.#changedAtMs.filter((each) => atMs - each < WINDOW_MS);
    this.#changedAtMs = [...recent, atMs];
    if (recent.length >= MAX_CHANGES) this.strike();
  }

  /** It was put back. */
  restored(): void {
    this.#isChanged = false;
  }

  /** The agent called a tool, which may be one by which the SDK changes to another agent. */
  toolCalled(): void {
    this.#excused = Math.min(this.#excused + 1, SDK_CONNECTS);
  }

  /** Whether a response that begins is made by what the page changed. */
  get isChanged(): boolean {
    return this.#isChanged;
  }
}
