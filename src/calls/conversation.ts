import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Behaviour } from '../protocol/behaviour.ts';
import type { NewItem, Sideband, Speaker } from '../upstream/contract.ts';

interface ConversationDeps {
  readonly clock: Clock;
  /** To the call's machine, which lets the agent answer one thing after the other. */
  readonly send: (event: HeldCallEvent) => void;
  /** Of a call that is open; undefined while nobody hears it. */
  readonly sideband: () => Sideband | undefined;
  /** How the session's agent begins and ends a conversation; null where nothing is said of it. */
  readonly behaviour: Behaviour | null;
}

const GOODBYE = 'The conversation ends in about half a minute. Say goodbye in one short sentence.';

const ANYBODY = 'Nobody has said anything for a while. Ask in one short sentence whether somebody is there.';

/** What makes an agent say these words and no others. */
function saying(words: string): string {
  return `Say exactly: ${words}`;
}

/** The conversation of one held call, as we put words into it: what a visitor writes, what a tool answers, what the agent is to be told or to say. */
export class Conversation {
  readonly #deps: ConversationDeps;
  #isWrappedUp = false;
  /** The visitor holds the button to speak. */
  #isTalking = false;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
  }

  /** Adds to the conversation; no response comes of it. @returns false while nobody hears the call, which does not have it then */
  add(item: NewItem): boolean {
    const sideband = this.#deps.sideband();
    sideband?.addItem(item);
    return sideband !== undefined;
  }

  /** Takes an item out of the conversation. */
  remove(id: string): void {
    this.#deps.sideband()?.deleteItem(id);
  }

  /**
   * Has the agent answer, once what it says now is over.
   * @param instructions for that answer alone; null for those of the session
   */
  respond(instructions: string | null): void {
    this.#deps.send({ type: 'RESPONSE_WANTED', at: this.#deps.clock.now(), instructions });
  }

  /** The conversation holds an answer to tools that it was told again: a response that was asked for after it is asked for again. */
  answerTaken(): void {
    this.#deps.send({ type: 'ANSWER_TAKEN', at: this.#deps.clock.now() });
  }

  /** What the agent says next are its last words: the session ends once they were heard, or are not for a minute. */
  lastWords(): void {
    this.#deps.send({ type: 'LAST_WORDS', at: this.#deps.clock.now() });
  }

  /** The agent speaks first, where it is to: call it once, when the first call of a session is open. */
  greet(): void {
    const { greeting } = this.#deps.behaviour ?? {};
    if (greeting !== undefined) this.respond(greeting === true ? null : saying(greeting));
  }

  /** The session is about to end: the agent says goodbye, where it is to, once. */
  wrapUp(): void {
    const { behaviour } = this.#deps;
    const { wrapUp } = behaviour ?? {};
    if (wrapUp === undefined || this.#isWrappedUp) return;
    this.#isWrappedUp = this.#say(wrapUp, GOODBYE);
  }

  /** Nobody has said anything for long: the agent asks whether somebody is there, where it is to. */
  askWhoIsThere(): void {
    const { silence } = this.#deps.behaviour ?? {};
    if (silence !== undefined) this.#say(silence.say ?? true, ANYBODY);
  }

  /**
   * The visitor presses the button that they hold to speak, and is heard from then on, or lets go of it, and is answered.
   * @returns false while nobody hears the call
   */
  talk(on: boolean): boolean {
    const sideband = this.#deps.sideband();
    if (sideband === undefined) return false;
    this.#isTalking = on;
    if (!on) sideband.commitInput();
    else {
      sideband.clearInput();
      this.interrupt();
    }
    return true;
  }

  /** What the visitor said until they let go of the button is in the conversation. Who presses it again is answered to all of it later. */
  heardOut(): void {
    if (!this.#isTalking) this.respond(null);
  }

  /** Somebody begins to speak, or stops. @param responseId what of the agent's is heard, where that is known */
  speech(who: Speaker, isOn: boolean, responseId?: string): void {
    this.#deps.send({ type: 'SPEECH', at: this.#deps.clock.now(), who, isOn, responseId });
  }

  /** The visitor has written something, or what they said is written down. */
  words(): void {
    this.#deps.send({ type: 'WORDS', at: this.#deps.clock.now() });
  }

  /** The agent stops at once. */
  interrupt(): void {
    this.#deps.send({ type: 'INTERRUPT', at: this.#deps.clock.now() });
  }

  /** @param words true for the agent's own, for which it is told `why` @returns false while nobody hears the call */
  #say(words: string | true, why: string): boolean {
    const isTold = words !== true || this.add({ type: 'message', role: 'system', text: why });
    if (isTold) this.respond(words === true ? null : saying(words));
    return isTold;
  }
}
