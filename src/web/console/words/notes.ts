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

type Told = Pick<OperatorEvent, 'kind' | 'detail'>;

/** What happened beside what a machine did, in few words; undefined for what a machine did. */
export function noteWords({ kind, detail }: Told): string | undefined {
  switch (kind) {
    case 'gap':
      return `silent for ${spanText(Number(detail['silentSec']) * 1000)}`;
    case 'attached':
      return 'socket attached';
    case 'detached': {
      const meaning = CODES[Number(detail['code'])];
      return `socket closed ${Number(detail['code'])}${meaning === undefined ? '' : `, ${meaning}`}`;
    }
    case 'warned': {
      const { limit, secondsLeft } = detail;
      const what = LIMITS[String(limit)] ?? String(limit);
      return typeof secondsLeft === 'number' ? `warned: ${what} in ${secondsLeft} s` : `warned: ${what} is near`;
    }
    case 'usage':
      return `used ${countText(Number(detail['tokens']))} tokens, ${moneyText(Number(detail['dollars']))}`;
    default:
      return undefined;
  }
}
