// The official SDK of OpenTelemetry in the place of Switchboard's own exporter, for Node 22.15 or later. In a folder of its own beside this file:
//   npm install @opentelemetry/api @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-proto @opentelemetry/resources
//   node --import /path/to/otel.mjs dist/main.js
// It reads the same variables: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and so on.
import { context, createContextKey } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, RandomIdGenerator } from '@opentelemetry/sdk-trace-node';

// Servers of tools and webhooks were told the ids of spans before these are made: Switchboard has them in the context in which it starts one.
const named = createContextKey('switchboard span name');
const ids = () => context.active().getValue(named);
const random = new RandomIdGenerator();

const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'switchboard' }).merge(
    detectResources({ detectors: [envDetector] }),
  ),
  idGenerator: {
    generateTraceId: () => ids()?.traceId ?? random.generateTraceId(),
    generateSpanId: () => ids()?.spanId ?? random.generateSpanId(),
  },
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void provider.forceFlush());
