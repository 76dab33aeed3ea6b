import type { Causes } from '../../src/stores/reconciliations/contract.ts';

/** Of a day of which everything was heard, priced and hung up. */
export const noCauses: Causes = {
  gapCalls: 0,
  gaps: [],
  unpriced: [],
  repriced: [],
  directSessions: 0,
  unconfirmedCalls: 0,
};
