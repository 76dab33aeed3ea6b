import { keepNewest } from '../../kernel/keep-newest.ts';

/** With this one the call is closed. */
const MAX_FORGED = 3;
/** Calls of tools that are watched, more than a session may have. */
const MAX_WATCHED = 512;
/** Answers to calls of which nothing is known yet: a page hears of a call before its response is done, and may be faster. */
const MAX_EARLY = 64;

interface ForgedAnswersDeps {
  /** The name of the item by which a call is answered here. */
  readonly itemOf: (callId: string) => string;
  /** Takes an item out of the conversation. */
  readonly remove: (item: string) => void;
  /** Counts and logs that an answer was forged. */
  readonly note: () => void;
  /** The page has done so again and again. */
  readonly close: () => void;
}

/** An answer to a call of a tool in the conversation, given by whomever. */
interface ToolAnswer {
  readonly item: string;
  readonly callId: string;
  /** It says that the page has no such tool. */
  readonly isDenial: boolean;
}

/**
 * Watches that the tools of the server are answered by nobody else: a page with a data channel can put answers into the conversation, and
 * take ours out. What it put in is taken out again.
 */
export class ForgedAnswers {
  readonly #deps: ForgedAnswersDeps;
  readonly #watched = new Set<string>();
  /** The names of the items that answer them. */
  readonly #ours = new Set<string>();
  /** Calls of tools that are the page's own to answer. */
  readonly #permitted = new Set<string>();
  /** Calls of which the page has said once that it has no such tool. */
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
   * The conversation holds an answer. A page whose SDK says that it does not have the tool has forged nothing, as often as there are calls:
   * that is taken out like the others.
   */
  answered(answer: ToolAnswer): void {
    const { item, callId, isDenial } = answer;
    if (this.#ours.has(item) || this.#permitted.has(callId)) return;
    if (!this.#watched.has(callId)) {
      this.#early.push(answer);
      // No page answers so many calls that the agent has not made.
      if (this.#early.length <= MAX_EARLY) return;
      this.#early.shift();
      return this.#strike();
    }
    this.#deps.remove(item);
    if (isDenial && !this.#denied.has(callId)) keepNewest(this.#denied.add(callId), MAX_WATCHED);
    else this.#strike();
  }

  /** The conversation holds an item no more. Nobody here ever takes one of ours out: whoever puts one of that name in has forged it. */
  removed(item: string): void {
    if (this.#ours.delete(item)) this.#strike();
  }

  #strike(): void {
    this.#forged += 1;
    this.#deps.note();
    if (this.#forged === MAX_FORGED) this.#deps.close();
  }
}
