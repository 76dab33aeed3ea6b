import type { OperatorEvent } from '../data/shapes.ts';
import { countText, moneyText, spanText } from './format.ts';

const LIMITS: Readonly<Record<string, string>> = {
  duration: 'maximum length',
  idle: 'quiet for too long',
  quota: 'quota of the day',
};

/** Close codes of which the number alone says little (docs/contract.md, section 7.4). */
const CODES: Readonly<Record<number, string>> = {
  1000: 'by its page',
  1001: 'its page was left',
  1006: 'cut off',
  1012: 'the node went away',
};

type NoteInput = Pick<OperatorEvent, 'kind' | 'detail'>;

const WORDS: Readonly<Partial<Record<NoteInput['kind'], (detail: NoteInput['detail']) => string>>> = {
  gap: ({ silentSec }) => `silent for ${spanText(Number(silentSec) * 1000)}`,
  attached: () => 'socket attached',
  detached({ code }) {
    const meaning = CODES[Number(code)];
    return `socket closed ${Number(code)}${meaning === undefined ? '' : `, ${meaning}`}`;
  },
  warned({ limit, secondsLeft }) {
    const what = LIMITS[String(limit)] ?? String(limit);
    return typeof secondsLeft === 'number' ? `warned: ${what} in ${secondsLeft} s` : `warned: ${what} is near`;
  },
  usage: ({ tokens, dollars }) => `used ${countText(Number(tokens))} tokens, ${moneyText(Number(dollars))}`,
};

/** What happened beside what a machine did, in few words; undefined for what a machine did. */
export function noteWords({ kind, detail }: NoteInput): string | undefined {
  return WORDS[kind]?.(detail);
}
