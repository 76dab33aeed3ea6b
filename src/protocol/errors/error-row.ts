import type { ErrorAdditions } from '../error-body.ts';
import type { Layer, Why } from '../refusal-why.ts';

/** What is kept of a refused request, as far as its explanation for operators tells it. */
export interface RefusalFacts {
  readonly of: { readonly keyId?: string | null };
  readonly detail: Pick<Why, 'limit' | 'count' | 'unit' | 'lever' | 'expected' | 'verdict' | 'fact'> & {
    readonly layer: string;
    /** The pattern of its path. */
    readonly route: string;
    readonly origin: string | null;
    /** Why a session had ended. */
    readonly reason?: string | undefined;
  };
}

/** All that is said of one error code, but what an end user reads: that is in the files of `languages/`. */
export interface ErrorRow {
  readonly status: number;
  /** When it is the answer: the words of docs/contract.md, section 2.3. */
  readonly meaning: string;
  /** What a client does next: the words of docs/contract.md, section 2.3. */
  readonly action: string;
  /** Why it happens, most frequent first, each with what helps. */
  readonly causes: readonly string[];
  /** A client may send the same request again by itself, after a pause. */
  readonly isTransient?: true;
  /** An error as a caller may meet it, for the interface description. */
  readonly example: ErrorAdditions & { readonly error: string };
  /** Who says no, where the refusal itself does not tell. */
  readonly layer: Layer;
  /** The variable or field that decides, where the refusal itself does not tell. */
  readonly lever?: string;
  /** What operators read: what happened, without what decides. */
  readonly explanation: string | ((refusal: RefusalFacts) => string);
}
