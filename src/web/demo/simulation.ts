import type { Session } from '../widget/api.ts';
import { element, make } from './elements.ts';

const MAX_LINES = 12;
const list = element('captions', HTMLOListElement);

/** Adds a line to the conversation. @returns a function that sets its text, which may grow */
function addCaption(speaker: 'Visitor' | 'Guide' | 'Tool'): (text: string) => void {
  const line = make('li', speaker.toLowerCase());
  const words = make('span');
  line.append(make('b', '', speaker), ' ', words);
  list.append(line);
  while (list.children.length > MAX_LINES) list.firstElementChild?.remove();
  return (text) => {
    words.textContent = text;
    list.scrollTop = list.scrollHeight;
  };
}

export function clearCaptions(): void {
  list.replaceChildren();
}

const WORD_MS = 220;
const PAUSE_MS = 900;

interface Turn {
  readonly speaker: 'Visitor' | 'Guide' | 'Tool';
  readonly words: string;
  /** What the response would have cost. */
  readonly usage?: { readonly tokens: number; readonly dollars: number };
}

const script: readonly Turn[] = [
  { speaker: 'Visitor', words: 'Hello! What can I see today?' },
  {
    speaker: 'Guide',
    words: 'Welcome! The planetarium starts at three, and the fossils are open all day.',
    usage: { tokens: 412, dollars: 0.0132 },
  },
  { speaker: 'Visitor', words: 'And when do you close?' },
  { speaker: 'Tool', words: 'get_opening_hours { "date": "today" }' },
  {
    speaker: 'Guide',
    words: 'We close at six today. The last planetarium show is at half past four.',
    usage: { tokens: 527, dollars: 0.0169 },
  },
  { speaker: 'Visitor', words: 'Lovely, thank you.' },
  {
    speaker: 'Guide',
    words: 'You are welcome. I will be quiet now: watch the silence run down.',
    usage: { tokens: 298, dollars: 0.0095 },
  },
];

/** A conversation without a provider. It tells the session what a real one would: who speaks when, and what that cost. */
export class Simulation {
  readonly #session: Session;
  readonly #onDone: () => void;
  #turn = 0;
  #word = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #write: ((text: string) => void) | undefined;

  constructor(session: Session, onDone: () => void) {
    this.#session = session;
    this.#onDone = onDone;
  }

  /** Continues where it stopped, or starts over after the end. */
  talk(): void {
    if (this.#turn >= script.length) this.#turn = 0;
    this.#step();
  }

  quiet(): void {
    clearTimeout(this.#timer);
  }

  #step(): void {
    const turn = script[this.#turn];
    if (turn === undefined) return this.#onDone();
    this.#session.active();
    const words = turn.words.split(' ');
    this.#write ??= addCaption(turn.speaker);
    this.#word += 1;
    this.#write(words.slice(0, this.#word).join(' '));
    const isSaid = this.#word >= words.length;
    if (isSaid) this.#finish(turn);
    this.#timer = setTimeout(() => this.#step(), isSaid ? PAUSE_MS : WORD_MS);
  }

  #finish({ usage }: Turn): void {
    this.#turn += 1;
    this.#word = 0;
    this.#write = undefined;
    // A refusal ends the session, and the page hears that as with any widget.
    if (usage !== undefined) this.#session.reportUsage(usage).catch(() => undefined);
  }
}
