import { shared } from '../kernel/async.ts';
import type { DependencyHealth } from '../protocol/health.ts';

/** Checks that one dependency answers. @throws when it does not */
export type Probe = () => Promise<void>;

export interface Readiness {
  readonly ready: boolean;
  readonly dependencies: Readonly<Record<string, DependencyHealth>>;
}

const PROBE_MS = 1000;

/** Checks whether the service is ready. Concurrent callers share one check of each dependency, because no window limits them. */
export function createReadiness(
  probes: Readonly<Record<string, Probe>>,
  isAccepting: () => boolean,
): () => Promise<Readiness> {
  const ask = shared(() =>
    Promise.all(Object.entries(probes).map(async ([name, probe]) => [name, await timed(probe)] as const)),
  );
  return async () => {
    const answers = await ask();
    const ready = isAccepting() && answers.every(([, answer]) => answer.ok);
    return { ready, dependencies: Object.fromEntries(answers) };
  };
}

async function timed(probe: Probe): Promise<DependencyHealth> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PROBE_MS);
  });
  const answer = probe().then(
    () => true,
    () => false,
  );
  const ok = await Promise.race([answer, deadline]);
  clearTimeout(timer);
  return { ok, ms: Math.round(performance.now() - startedAt) };
}
