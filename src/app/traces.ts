import { ProxyTracerProvider, trace, type Tracer } from '@opentelemetry/api';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/build-info.ts';
import { makeSpans } from '../telemetry/traces/make-spans.ts';
import { SpanExporter } from '../telemetry/traces/span-exporter.ts';
import { Traces, type TracesDeps } from '../telemetry/traces/traces.ts';
import type { Core } from './core.ts';

const NAME = 'switchboard';

type TracesCore = Pick<Core, 'stores' | 'clock' | 'events' | 'metrics' | 'node'> & {
  readonly config: Pick<Config, 'traces'>;
};

/** How this node makes traces: with the registered tracer provider if there is one, otherwise with our exporter; undefined where tracing is off. */
export function openTraces(core: TracesCore): Traces | undefined {
  const registered = registeredTracer();
  const exporter = registered === undefined ? openExporter(core) : undefined;
  const take: TracesDeps['take'] | undefined = registered
    ? (spans) => makeSpans(registered, spans)
    : exporter && ((spans) => exporter.add(spans));
  if (take === undefined) return undefined;
  const { stores, clock, config } = core;
  const { sampler, ratio, trustsPages } = config.traces;
  return new Traces({ store: stores.sessionTraces, take, exporter, clock, sampler, ratio, trustsPages });
}

/** The URL that traces are sent to, including its path; undefined where no collector is configured. */
function collectorOf({ traces: { endpoint, tracesEndpoint } }: TracesCore['config']): URL | undefined {
  if (tracesEndpoint !== undefined) return new URL(tracesEndpoint);
  return endpoint === undefined ? undefined : new URL(`${endpoint.replace(/\/+$/, '')}/v1/traces`);
}

/** Warns where a collector is configured for an OTLP protocol that is not supported here. */
export function findTraceWarnings(config: TracesCore['config']): string[] {
  const { protocol, tracesProtocol } = config.traces;
  const wanted = tracesProtocol ?? protocol;
  if (collectorOf(config) === undefined || wanted === 'http/json') return [];
  const name = tracesProtocol === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  return [
    `${name}=${wanted} is not spoken: traces are sent by OTLP/HTTP as JSON (http/json); name an address that takes it, as a rule port 4318`,
  ];
}

function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME, version)
    : provider.getTracer(NAME, version);
}

function openExporter({ config, clock, events, metrics, node }: TracesCore): SpanExporter | undefined {
  const { headers, tracesHeaders = headers, serviceName, resource } = config.traces;
  const url = collectorOf(config);
  if (url === undefined) return undefined;
  for (const warning of findTraceWarnings(config)) events.warned(warning);
  const exporter = new SpanExporter({
    url,
    headers: tracesHeaders,
    resource: {
      'service.instance.id': node.id,
      'service.version': version,
      'telemetry.sdk.name': NAME,
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
      ...resource,
      'service.name': serviceName,
    },
    version,
    clock,
    events,
  });
  metrics.observe('switchboard_trace_spans_waiting', 'Spans that wait for the collector', () => exporter.waiting);
  return exporter;
}
