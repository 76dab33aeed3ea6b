// Replaces Switchboard's own exporter with the official SDK of OpenTelemetry; needs Node 22.15 or later. In a folder of its own beside this file:
//   npm install @opentelemetry/api @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-proto @opentelemetry/resources
//   node --import /path/to/otel.mjs dist/main.js
// It reads the same variables: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and so on.
import { context, createContextKey } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, RandomIdGenerator } from '@opentelemetry/sdk-trace-node';

// Switchboard sends a span's id to the servers of tools and webhooks before the span exists. It puts the id into the context that starts the span.
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
