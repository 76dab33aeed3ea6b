import { accessErrors } from './access-errors.ts';
import type { ErrorRow } from './error-row.ts';
import { requestErrors } from './request-errors.ts';
import { serviceErrors } from './service-errors.ts';
import { sessionErrors } from './session-errors.ts';

const rows = { ...requestErrors, ...accessErrors, ...sessionErrors, ...serviceErrors };

export type Code = keyof typeof rows;

/**
 * Every code that a client can receive, one row each (docs/contract.md, section 2.3). This is the only list: types, replies, the texts for
 * people and the interface description derive from it.
 */
export const ERROR_CODES: Readonly<Record<Code, ErrorRow>> = rows;

/** Codes after which the same request may succeed later. */
export type TransientCode = {
  [C in Code]: (typeof rows)[C] extends { readonly isTransient: true } ? C : never;
}[Code];
