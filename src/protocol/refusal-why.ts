import { moneyText } from './money.ts';

/** Which part of the way of a request said no. */
export const LAYERS = [
  'edge',
  'body',
  'key',
  'origin',
  'agent',
  'bot',
  'minute',
  'quota',
  'slot',
  'mint',
  'proof',
  'machine',
  'login',
  /** What the service stands on, or a defect of its own. */
  'service',
] as const;

export type Layer = (typeof LAYERS)[number];

/** What a limit counts. */
export type Unit =
  | 'requests'
  | 'wrong service tokens'
  | 'tokens'
  | 'dollars'
  | 'sessions'
  | 'calls'
  | 'codes'
  | 'wrong codes'
  | 'KiB'
  | 'minutes';

/** The word for so many of a unit: `session` for one. */
export function unitOf(count: number, unit: Unit): string {
  return count === 1 ? unit.replace(/s$/, '') : unit;
}

/** A number with its unit, as people write it; undefined where there is no number. */
export function amount(n: number | undefined, unit: Unit = 'requests'): string | undefined {
  if (n === undefined) return undefined;
  return unit === 'dollars' ? moneyText(n) : `${n.toLocaleString('en-US')} ${unitOf(n, unit)}`;
}

/**
 * What an operator is told of a refusal and its caller is not (docs/contract.md, section 8). It holds nothing that a caller sent: what is
 * known is ours, and so may be kept.
 */
export interface Why {
  /** Where the code alone does not tell. */
  readonly layer?: Layer;
  readonly limit?: number | undefined;
  /** The amount that was counted. */
  readonly count?: number | undefined;
  readonly unit?: Unit;
  /** The variable, or the field of a widget key, that decides. */
  readonly lever?: string;
  /** What would have been right. */
  readonly expected?: string;
  /** What judged a caller, and how sure it is. */
  readonly verdict?: string;
  /** What was found, as a clause. */
  readonly fact?: string;
  readonly tenantId?: string | null;
  readonly keyId?: string | null;
  readonly subject?: string | null;
}
