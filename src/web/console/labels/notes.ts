import type { OperatorEvent } from '../data/shapes.ts';
import { actionWords } from './actions.ts';
import { moneyText } from '../../../protocol/money.ts';
import { countText, latencyText, spanText } from './format.ts';

const LIMITS: Readonly<Record<string, string>> = {
  duration: 'maximum length',
  idle: 'quiet for too long',
  quota: 'quota of the day',
};

/** Close codes whose number alone says little (docs/contract.md, section 7.4). */
const CODES: Readonly<Record<number, string>> = {
  1000: 'by its page',
  1001: 'its page was left',
  1006: 'cut off',
  1012: 'the node went away',
};

/** How usage is known, if not from a response. */
const BASES: Readonly<Record<string, string>> = { clock: 'by time', reported: 'as reported', tool: 'for a tool' };

type NoteInput = Pick<OperatorEvent, 'kind' | 'detail'> & { readonly event?: string | null };

const WORDS: Readonly<Partial<Record<NoteInput['kind'], (detail: NoteInput['detail'], event: string) => string>>> = {
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
  usage({ tokens, dollars, basis, isEstimated }) {
    const used = `${countText(Number(tokens))} tokens, ${moneyText(Number(dollars))}`;
    if (basis === 'events') return `response: ${used}`;
    const known = BASES[String(basis)];
    return `used ${used}${known === undefined ? '' : `, ${known}`}${isEstimated === true ? ', estimated' : ''}`;
  },
  tool({ state, code, detail, endReason, ms }, name) {
    const why = detail === null ? '' : ` (${detail})`;
    const took = typeof ms === 'number' ? ` in ${latencyText(ms)}` : '';
    const end = endReason === null ? '' : `, and ended the session: ${endReason}`;
    return `tool ${name}: ${String(code ?? state).replaceAll('_', ' ')}${why}${took}${end}`;
  },
  delivery({ state, lastStatus, lastCode, attempts }, type) {
    const answer = lastStatus ?? lastCode;
    const tries = Number(attempts) > 1 ? `, ${Number(attempts)} tries` : '';
    return `webhook ${type}: ${state}${answer === null ? '' : `, ${answer}`}${tries}`;
  },
  act({ actor, reason, result }, action) {
    const came = result === 'done' ? '' : `, ${result ?? 'result unknown'}`;
    return `${actor} ${actionWords(action)}${came}${reason === null ? '' : `: ${reason}`}`;
  },
  refusal: ({ sentence }, code) => `refused with ${code}: ${sentence}`,
};

/** What happened apart from the machine, in few words; undefined for what the machine did. */
export function noteWords({ kind, detail, event = null }: NoteInput): string | undefined {
  return WORDS[kind]?.(detail, event ?? '');
}
