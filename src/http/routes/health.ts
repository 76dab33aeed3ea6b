import { shared, withTimeout } from '../../kernel/async.ts';
import { readiness as readinessReply, type DependencyHealth, type Readiness } from '../../protocol/health.ts';
import { done } from '../../protocol/fields.ts';
import { defineRoute, type Result, type Route } from '../route.ts';
import type { Services } from '../services.ts';

const TAG = 'Operations';

/** GET /healthz, /readyz and /metrics (docs/contract.md, section 2.7). */
export function healthRoutes({ core: { config, metrics }, readiness }: Pick<Services, 'core' | 'readiness'>): Route[] {
  // No limit applies to this route, so concurrent requests share one answer.
  const collect = shared(() => metrics.registry.metrics());
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Check that the process is up',
      description: 'Checks no dependency: use it to decide about restarts.',
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
      summary: 'Check that the dependencies answer',
      description:
        '503 while a dependency is away or the process is draining. A load balancer that routes by this must still have somewhere to send requests when all nodes say 503, because they continue to serve what works without that dependency (docs/operations.md).',
      tag: TAG,
      access: 'public',
      window: 'none',
      replies: {
        200: { description: 'Ready', schema: readinessReply, example: exampleReadiness(true) },
        503: { description: 'Not ready', schema: readinessReply, example: exampleReadiness(false) },
      },
      refusals: [],
      async handle(): Promise<Result> {
        const body = await readiness();
        return { status: body.ready ? 200 : 503, body };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Prometheus metrics',
      description: 'Metrics of the process that answers. With DEBUG_METRICS=true no credential is needed.',
      tag: TAG,
      access: config.debugMetrics ? 'public' : 'operator',
      right: 'see-installation',
      replies: {
        200: {
          description: 'Metrics in the Prometheus text format',
          contentType: 'text/plain',
          example: 'switchboard_sockets_attached 12\n',
        },
      },
      refusals: ['AUTH_REQUIRED', 'FORBIDDEN', 'SERVICE_UNAVAILABLE'],
      async handle(): Promise<Result> {
        return { status: 200, body: await collect(), headers: [['Content-Type', metrics.registry.contentType]] };
      },
    }),
  ];
}

function exampleReadiness(ok: boolean) {
  return { ready: ok, dependencies: { database: { ok, ms: ok ? 1 : 1000 }, registry: { ok: true, ms: 1 } } };
}

/** Checks that one dependency answers. @throws when it does not */
type Probe = () => Promise<void>;

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
  let ok = false;
  const answer = probe().then(
    () => (ok = true),
    () => false,
  );
  await withTimeout(PROBE_MS, answer);
  return { ok, ms: Math.round(performance.now() - startedAt) };
}
