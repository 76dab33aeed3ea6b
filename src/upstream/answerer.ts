import type { UpstreamProvider } from './contract.ts';

/** Who answers a provider's calls: its model, an echo of the caller's own voice, or nobody. */
export type Answerer = 'model' | 'echo' | 'nobody';

export function answererOf({
  simulated,
  capabilities,
}: Pick<UpstreamProvider, 'simulated' | 'capabilities'>): Answerer {
  if (!simulated) return 'model';
  return capabilities.call === 'none' ? 'nobody' : 'echo';
}

const notes = { model: '', echo: ' (an echo, no model)', nobody: ' (simulated)' } as const;

/** The provider's name, and what stands in for it where it is simulated. */
export function titleOf(provider: Pick<UpstreamProvider, 'name' | 'simulated' | 'capabilities'>): string {
  return provider.name + notes[answererOf(provider)];
}
