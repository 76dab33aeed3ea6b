import * as s from './schemas.ts';
import { collectorUrl, headerList, PROTOCOLS, resourceAttributes, serviceName, tracesUrl } from './trace-settings.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) for where traces are sent, with OpenTelemetry's names. */
export const traces = {
  Traces: {
    traces: {
      endpoint: variable(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        collectorUrl,
        { unset: 'unset: no traces, unless an SDK of OpenTelemetry is registered' },
        'the collector that receives traces over OTLP/HTTP as JSON, without /v1/traces',
        { example: 'http://localhost:4318', secret: 'in address' },
      ),
      headers: variable(
        'OTEL_EXPORTER_OTLP_HEADERS',
        headerList,
        '',
        'headers of requests to the collector: name=value, comma-separated, values percent-encoded',
        { unset: 'unset', example: 'api-key=secret', secret: 'all' },
      ),
      tracesEndpoint: variable(
        'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
        tracesUrl,
        { unset: 'unset: /v1/traces at OTEL_EXPORTER_OTLP_ENDPOINT' },
        'the address that receives traces, used unchanged instead of the one derived from OTEL_EXPORTER_OTLP_ENDPOINT',
        { example: 'http://localhost:4318/v1/traces', secret: 'in address' },
      ),
      tracesHeaders: variable(
        'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
        headerList,
        { unset: 'unset: OTEL_EXPORTER_OTLP_HEADERS' },
        'headers of requests with traces, instead of OTEL_EXPORTER_OTLP_HEADERS',
        { example: 'api-key=secret', secret: 'all' },
      ),
      protocol: variable(
        'OTEL_EXPORTER_OTLP_PROTOCOL',
        s.choice(PROTOCOLS),
        'http/json',
        'how traces are sent: only http/json is supported; with any other value http/json is used, with a warning at start',
      ),
      tracesProtocol: variable(
        'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
        s.choice(PROTOCOLS),
        { unset: 'unset: OTEL_EXPORTER_OTLP_PROTOCOL' },
        'the same for traces, instead of OTEL_EXPORTER_OTLP_PROTOCOL',
        { example: 'http/json' },
      ),
      serviceName: variable('OTEL_SERVICE_NAME', serviceName, 'switchboard', 'the name of the service in traces'),
      resource: variable(
        'OTEL_RESOURCE_ATTRIBUTES',
        resourceAttributes,
        '',
        'attributes of the source of traces: name=value, comma-separated, values percent-encoded',
        { unset: 'unset', example: 'deployment.environment.name=production' },
      ),
      sampler: variable(
        'OTEL_TRACES_SAMPLER',
        s.choice([
          'always_on',
          'always_off',
          'traceidratio',
          'parentbased_always_on',
          'parentbased_always_off',
          'parentbased_traceidratio',
        ]),
        'parentbased_traceidratio',
        'which sessions are traced; parentbased: as decided by the back end whose trace is followed',
      ),
      ratio: variable('OTEL_TRACES_SAMPLER_ARG', s.share, '1', 'the share of sessions that traceidratio traces'),
      trustsPages: variable(
        'TRUST_TRACEPARENT',
        s.boolean,
        'false',
        'true: the traceparent of a page is followed like that of a service token; otherwise its trace is only linked',
      ),
    },
  },
};
