import { createHmac } from 'node:crypto';
import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import type { Clock } from '../kernel/time.ts';
import { digestOf } from '../kernel/ids.ts';
import type { Behaviour } from '../protocol/behaviour.ts';
import type { NewItem, Sideband, Speaker } from '../upstream/contract.ts';

interface ConversationDeps {
  readonly clock: Clock;
  /** Sends to the call's machine, which lets the agent answer one thing after another. */
  readonly send: (event: HeldCallEvent) => void;
  /** The sideband of an open call; undefined while nobody hears the call. */
  readonly sideband: () => Sideband | undefined;
  /** How the session's agent begins and ends a conversation; null where its setup does not say. */
  readonly behaviour: Behaviour | null;
  /** Saves what happened in the call. */
  readonly save: (event: CallEvent) => void;
}

/** What an agent that chooses its own words is told before it says goodbye. */
const GOODBYES = {
  ending: 'The conversation ends in about half a minute. Say goodbye in one short sentence.',
  stopping: 'The conversation ends in a few seconds. Say goodbye in one short sentence.',
};

const ANYBODY = 'Nobody has said anything for a while. Ask in one short sentence whether somebody is there.';

/** An instruction that makes the agent say exactly these words. */
function saying(words: string): string {
  return `Say exactly: ${words}`;
}

/** What we put into the conversation of one held call: what the visitor writes, what tools answer, what the agent is to be told or to say. */
export class Conversation {
  readonly #call: { readonly record: CallRecord };
  readonly #deps: ConversationDeps;
  /** The agent has said goodbye, which the record may not say yet. */
  #isWrappedUp = false;
  /** The visitor holds the button to speak. */
  #isTalking = false;

  constructor(call: { readonly record: CallRecord }, deps: ConversationDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  /** Adds an item; it starts no response. @returns false while nobody hears the call: the item is not added then */
  add(item: NewItem): boolean {
    const sideband = this.#deps.sideband();
    sideband?.addItem(item);
    return sideband !== undefined;
  }

  /** Removes an item from the conversation. */
  remove(id: string): void {
    this.#deps.sideband()?.deleteItem(id);
  }

  /**
   * Has the agent answer, once it has finished what it is saying.
   * @param instructions for that answer alone; null to use the session's
   */
  respond(instructions: string | null): void {
    this.#deps.send({ type: 'RESPONSE_WANTED', at: this.#deps.clock.now(), instructions });
  }

  /** The conversation holds a tool answer that was told again on a new sideband: a response that was asked for after it is asked for again. */
  answerTaken(): void {
    this.#deps.send({ type: 'ANSWER_TAKEN', at: this.#deps.clock.now() });
  }

  /** What the agent says next is its last words: the session ends once they were heard, or after a minute if they are not. */
  lastWords(): void {
    this.#deps.send({ type: 'LAST_WORDS', at: this.#deps.clock.now() });
  }

  /** The agent speaks first, where it is configured to: call it once, when the first call of a session is open. */
  greet(): void {
    const { greeting } = this.#deps.behaviour ?? {};
    if (greeting !== undefined) this.respond(greeting === true ? null : saying(greeting));
  }

  /**
   * The agent says goodbye where it is configured to, once in a session: the session is about to end, or the service stops and nobody will hear the
   * call.
   * @returns whether it was asked to now
   */
  wrapUp(why: keyof typeof GOODBYES): boolean {
    const { behaviour, clock } = this.#deps;
    const { wrapUp } = behaviour ?? {};
    if (wrapUp === undefined || this.#isWrappedUp || this.#call.record.wrappedUpAtMs !== null) return false;
    const isSaid = this.#say(wrapUp, GOODBYES[why]);
    if (isSaid) this.noteWrappedUp(clock.now());
    return isSaid;
  }

  /** The agent has said goodbye, in this call or an earlier one of the session. */
  noteWrappedUp(at: number): void {
    this.#isWrappedUp = true;
    this.#deps.save({ type: 'WRAPPED_UP', at });
  }

  /** Nobody has spoken for a while: the agent asks whether somebody is there, where it is configured to. */
  askWhoIsThere(): void {
    const { silence } = this.#deps.behaviour ?? {};
    if (silence !== undefined) this.#say(silence.say ?? true, ANYBODY);
  }

  /**
   * Push to talk: the visitor presses the button and is heard from then on, or releases it and is answered.
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

  /** What the visitor said before releasing the button is in the conversation. If they press it again first, one later answer covers all of it. */
  heardOut(): void {
    if (!this.#isTalking) this.respond(null);
  }

  /** Somebody starts or stops speaking. @param responseId the agent's response that is heard, where that is known */
  speech(who: Speaker, isOn: boolean, responseId?: string): void {
    this.#deps.send({ type: 'SPEECH', at: this.#deps.clock.now(), who, isOn, responseId });
  }

  /** The visitor has written something, or what they said has been transcribed. */
  words(): void {
    this.#deps.send({ type: 'WORDS', at: this.#deps.clock.now() });
  }

  /** The agent stops at once. */
  interrupt(): void {
    this.#deps.send({ type: 'INTERRUPT', at: this.#deps.clock.now() });
  }

  /** @param words true to let the agent choose its own, after it is told `why` @returns false while nobody hears the call */
  #say(words: string | true, why: string): boolean {
    const isTold = words !== true || this.add({ type: 'message', role: 'system', text: why });
    if (isTold) this.respond(words === true ? null : saying(words));
    return isTold;
  }
}

/** Providers accept no longer item names. */
const MAX_LENGTH = 32;
const PREFIX = 'sb_';

/**
 * The item name for something we put into a conversation that has a name already. The same name always gives the same item name, so that two nodes
 * cannot add it twice. It is `sb_` and the name, or `sb_` and 29 characters of its hash where the name is too long or has other characters.
 */
export function itemIdOf(name: string): string {
  const isFit = /^[\w-]+$/.test(name) && PREFIX.length + name.length <= MAX_LENGTH;
  const rest = MAX_LENGTH - PREFIX.length;
  return PREFIX + (isFit ? name : digestOf(name).slice(0, rest));
}

/** Whether we added this item. */
export function isOwnItem(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The same for items that a page must not be able to add in our place: nobody can guess the name without the key. */
export function secretItemIdOf(name: string, key: Buffer): string {
  return itemIdOf(createHmac('sha256', key).update(name).digest('base64url'));
}
