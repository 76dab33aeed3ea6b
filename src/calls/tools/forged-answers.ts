import { keepNewest } from '../../kernel/collections.ts';

/** The call is closed with this many forged answers. */
const MAX_FORGED = 3;
/** Tool calls that are watched, more than a session may have. */
const MAX_WATCHED = 512;
/** Answers to tool calls that are not known yet: a page hears of a call before its response is done, and may be faster. */
const MAX_EARLY = 64;

interface ForgedAnswersDeps {
  /** The name of the item with which we answer a tool call. */
  readonly itemOf: (callId: string) => string;
  /** Removes an item from the conversation. */
  readonly remove: (item: string) => void;
  /** Counts and logs a forged answer. */
  readonly note: () => void;
  /** Closes the call of a page that forged answers repeatedly. */
  readonly close: () => void;
}

/** An answer to a tool call that is in the conversation, whoever gave it. */
interface ToolAnswer {
  readonly item: string;
  readonly callId: string;
  /** The page says that it has no such tool. */
  readonly isDenial: boolean;
}

/**
 * Makes sure that nobody else answers for the tools of the server: a page with a data channel can add answers to the conversation, and remove ours.
 * What it adds is removed again.
 */
export class ForgedAnswers {
  readonly #deps: ForgedAnswersDeps;
  readonly #watched = new Set<string>();
  /** Names of the items with which we answer the watched calls. */
  readonly #ours = new Set<string>();
  /** Tool calls that the page itself is to answer. */
  readonly #permitted = new Set<string>();
  /** Tool calls for which the page has already said once that it has no such tool. */
  readonly #denied = new Set<string>();
  #early: ToolAnswer[] = [];
  #forged = 0;

  constructor(deps: ForgedAnswersDeps) {
    this.#deps = deps;
  }

  /** The agent asks for a tool of the server. */
  watch(callId: string): void {
    keepNewest(this.#watched.add(callId), MAX_WATCHED);
    keepNewest(this.#ours.add(this.#deps.itemOf(callId)), MAX_WATCHED);
    for (const early of this.#early.filter((each) => each.callId === callId)) this.answered(early);
  }

  /** The agent asks for a tool of the page. */
  permit(callId: string): void {
    keepNewest(this.#permitted.add(callId), MAX_WATCHED);
    this.#early = this.#early.filter((each) => each.callId !== callId);
  }

  /**
   * The conversation holds an answer. A page whose SDK says that it does not have the tool has forged nothing, as long as it says so once for each
   * call; its answer is removed like the others.
   */
  answered(answer: ToolAnswer): void {
    const { item, callId, isDenial } = answer;
    if (this.#ours.has(item) || this.#permitted.has(callId)) return;
    if (!this.#watched.has(callId)) {
      this.#early.push(answer);
      // No honest page answers so many calls that the agent has not made.
      if (this.#early.length <= MAX_EARLY) return;
      this.#early.shift();
      return this.#strike();
    }
    this.#deps.remove(item);
    if (isDenial && !this.#denied.has(callId)) keepNewest(this.#denied.add(callId), MAX_WATCHED);
    else this.#strike();
  }

  /** An item was removed from the conversation. We never remove our own: a page has removed it, or had forged one of that name. */
  removed(item: string): void {
    if (this.#ours.delete(item)) this.#strike();
  }

  #strike(): void {
    this.#forged += 1;
    this.#deps.note();
    if (this.#forged === MAX_FORGED) this.#deps.close();
  }
}
