import type { Metrics } from '../../telemetry/metrics.ts';
import { readiness, type DependencyHealth } from '../../protocol/health.ts';
import { done } from '../../protocol/values.ts';
import { defineRoute, type Result, type Route } from '../route.ts';

/** Asks one dependency whether it answers. @throws when it does not */
export type Probe = () => Promise<void>;

export interface HealthDeps {
  readonly probes: Readonly<Record<string, Probe>>;
  /** False from the moment a shutdown begins: load balancers should look elsewhere. */
  readonly isAccepting: () => boolean;
  readonly metrics: Metrics;
  /** /metrics needs no credential. */
  readonly openMetrics: boolean;
}

const PROBE_MS = 1000;
const TAG = 'Operations';

/** GET /healthz, /readyz and /metrics (docs/contract.md, section 2.7). */
export function healthRoutes(deps: HealthDeps): Route[] {
  // No window counts who asks: however many ask at once, each dependency is asked once.
  const ask = shared(() => askAll(deps.probes));
  const collect = shared(() => deps.metrics.registry.metrics());
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether the process is up',
      description: 'Asks no dependency: use it to decide about restarts.',
      tag: TAG,
      access: 'public',
      window: 'none',
      replies: { 200: { description: 'Up', schema: done, example: { ok: true } } },
      refusals: [],
      handle: () => ({ status: 200, body: { ok: true } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether the dependencies answer',
      description:
        '503 while a dependency is away or the process drains. A load balancer that sends requests by it must have somewhere to send them when all nodes say 503, because they still serve what goes on without that dependency (docs/operations.md).',
      tag: TAG,
      access: 'public',
      window: 'none',
      replies: {
        200: { description: 'Ready', schema: readiness, example: exampleReadiness(true) },
        503: { description: 'Not ready', schema: readiness, example: exampleReadiness(false) },
      },
      refusals: [],
      handle: () => ready(deps, ask),
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Prometheus metrics',
      description: 'Of the process that answers. With DEBUG_METRICS=true it needs no credential.',
      tag: TAG,
      access: deps.openMetrics ? 'public' : 'operator',
      right: 'see-installation',
      replies: {
        200: {
          description: 'Prometheus text format',
          contentType: 'text/plain',
          example: 'switchboard_sockets_attached 12\n',
        },
      },
      refusals: ['AUTH_REQUIRED', 'FORBIDDEN', 'SERVICE_UNAVAILABLE'],
      async handle(): Promise<Result> {
        return { status: 200, body: await collect(), headers: [['Content-Type', deps.metrics.registry.contentType]] };
      },
    }),
  ];
}

function exampleReadiness(ok: boolean) {
  return { ready: ok, dependencies: { database: { ok, ms: ok ? 1 : 1000 }, registry: { ok: true, ms: 1 } } };
}

/** Runs the work once for all who ask while it is under way. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

type Answers = readonly (readonly [name: string, answer: DependencyHealth])[];

function askAll(probes: HealthDeps['probes']): Promise<Answers> {
  return Promise.all(Object.entries(probes).map(async ([name, probe]) => [name, await timed(probe)] as const));
}

async function ready({ isAccepting }: HealthDeps, ask: () => Promise<Answers>): Promise<Result> {
  const answers = await ask();
  const isReady = isAccepting() && answers.every(([, answer]) => answer.ok);
  return { status: isReady ? 200 : 503, body: { ready: isReady, dependencies: Object.fromEntries(answers) } };
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
