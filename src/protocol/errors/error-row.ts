import type { ErrorAdditions } from './error-body.ts';
import { moneyText } from '../money.ts';

/** Which part of a request's path through the service refused it. */
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
  /** A dependency of the service, or a bug in it. */
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

/** The unit in the form that fits the count: `session` for 1. */
export function unitOf(count: number, unit: Unit): string {
  return count === 1 ? unit.replace(/s$/, '') : unit;
}

/** A number with its unit, as people write it; undefined if there is no number. */
export function amount(n: number | undefined, unit: Unit = 'requests'): string | undefined {
  if (n === undefined) return undefined;
  return unit === 'dollars' ? moneyText(n) : `${n.toLocaleString('en-US')} ${unitOf(n, unit)}`;
}

/**
 * What operators learn about a refusal but its caller does not (docs/contract.md, section 8). It holds nothing that a caller sent, only
 * what Switchboard knows itself, and so may be stored.
 */
export interface Why {
  /** Set where the code alone does not imply it. */
  readonly layer?: Layer;
  readonly limit?: number | undefined;
  /** The amount that was counted. */
  readonly count?: number | undefined;
  readonly unit?: Unit;
  /** The variable, or the field of a widget key, that decided. */
  readonly lever?: string;
  /** What would have been accepted. */
  readonly expected?: string;
  /** What judged the caller, and with what certainty. */
  readonly verdict?: string;
  /** What was found, worded as a clause. */
  readonly fact?: string;
  readonly tenantId?: string | null;
  readonly keyId?: string | null;
  readonly subject?: string | null;
}

/** The facts about a refused request that its explanation for operators may use. */
export interface RefusalFacts {
  readonly of: { readonly keyId?: string | null };
  readonly detail: Pick<Why, 'limit' | 'count' | 'unit' | 'lever' | 'expected' | 'verdict' | 'fact'> & {
    readonly layer: string;
    /** The pattern of the request's path. */
    readonly route: string;
    readonly origin: string | null;
    /** Why the session had ended. */
    readonly reason?: string | undefined;
  };
}

/** Everything that is said about one error code, except what visitors read: that is in `translations/`. */
export interface ErrorRow {
  readonly status: number;
  /** What the code means, in a few words, for lists that operators read. */
  readonly label: string;
  /** When the code is the answer, in the words of docs/contract.md, section 2.3. */
  readonly meaning: string;
  /** What the client should do next, in the words of docs/contract.md, section 2.3. */
  readonly action: string;
  /** Possible causes, most frequent first, each with a remedy. */
  readonly causes: readonly string[];
  /** A client may repeat the same request on its own after a pause. */
  readonly isTransient?: true;
  /** A realistic example, for the interface description. */
  readonly example: ErrorAdditions & { readonly error: string };
  /** Which layer refuses, unless the refusal itself says so. */
  readonly layer: Layer;
  /** The variable or field that decides, unless the refusal itself names it. */
  readonly lever?: string;
  /** What operators read: what happened, but not which setting decided. */
  readonly explanation: string | ((refusal: RefusalFacts) => string);
}
