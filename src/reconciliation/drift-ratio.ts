import type { ReconciledDay } from '../stores/reconciliations/contract.ts';

/** By how much of the provider's tokens we counted more of a model, or less where it is negative. */
interface DriftRatio {
  readonly labels: { readonly upstream: string; readonly model: string };
  readonly value: number;
}

/** Of each provider the models of the last day whose tokens were compared. @param days the newest first */
export function driftsOf(days: readonly ReconciledDay[]): DriftRatio[] {
  const upstreams = new Set(days.map(({ upstream }) => upstream));
  return [...upstreams].flatMap((upstream) => {
    const rows = days.find((day) => day.upstream === upstream && day.rows.length > 0)?.rows ?? [];
    const models = new Set(rows.map(({ model }) => model));
    return [...models].map((model) => {
      const ofModel = rows.filter((row) => row.model === model);
      const [ours, theirs] = (['ours', 'theirs'] as const).map((whose) =>
        ofModel.reduce((sum, row) => sum + row[whose], 0),
      ) as [number, number];
      return { labels: { upstream, model }, value: (ours - theirs) / Math.max(theirs, 1) };
    });
  });
}
