import type { ErrorAdditions } from '../error-body.ts';
import type { Layer, Why } from '../refusal-why.ts';

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

/** Everything that is said about one error code, except what visitors read: that is in `visitor-messages/`. */
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
