import type { ReconciledDay } from '../stores/reconciliations/contract.ts';

/** How far our count of a model is above the provider's, as a share of the provider's tokens; negative where it is below. */
interface DriftRatio {
  readonly labels: { readonly upstream: string; readonly model: string };
  readonly value: number;
}

/** For each provider, the models of the last day whose tokens were compared. @param days newest first */
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
