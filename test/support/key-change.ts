import type { KeyChange } from '../../src/stores/tenants/contract.ts';

/** A change of a key by an operator who gives no reason. */
export function changedAt(atMs: number): KeyChange {
  return { atMs, by: 'operator', reason: null };
}
