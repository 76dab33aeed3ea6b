import type { Usage, UsageReport } from './api.ts';
import { makeId } from './http.ts';
import { persist } from './backoff.ts';

export const USAGE_PATH = '/api/auth/usage';

export type Amounts = Required<Omit<UsageReport, 'id'>>;

/** Usage reports that the server has not acknowledged yet. */
export interface Reports {
  /** Repeats the report under one id until it is answered. @throws SwitchboardError a permanent refusal */
  readonly send: (report: UsageReport) => Promise<Usage>;
  readonly waiting: ReadonlyMap<string, Amounts>;
}

export function createReports(ask: (amounts: Amounts, id: string) => Promise<{ usage: Usage }>): Reports {
  const waiting = new Map<string, Amounts>();
  return {
    waiting,
    async send({ tokens = 0, dollars = 0, id = makeId() }) {
      const amounts = { tokens: Math.round(tokens), dollars: Math.round(dollars * 1e6) / 1e6 };
      waiting.set(id, amounts);
      try {
        return (await persist(() => ask(amounts, id))).usage;
      } finally {
        waiting.delete(id);
      }
    },
  };
}
