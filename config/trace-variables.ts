import * as s from './schemas.ts';
import { collectorUrl, headerList, resourceAttributes, serviceName } from './trace-settings.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) that says where traces are sent, by the names that OpenTelemetry has for it. */
export const traces = {
  Traces: {
    traces: {
      endpoint: variable(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        collectorUrl,
        { unset: 'unset: no traces, unless an SDK of OpenTelemetry is registered' },
        'the collector that gets traces by OTLP/HTTP as JSON, without /v1/traces',
        { example: 'http://localhost:4318', secret: 'in address' },
      ),
      headers: variable(
        'OTEL_EXPORTER_OTLP_HEADERS',
        headerList,
        '',
        'headers of requests to the collector: name=value, comma-separated, values percent-encoded',
        { unset: 'unset', example: 'api-key=secret', secret: 'all' },
      ),
      serviceName: variable('OTEL_SERVICE_NAME', serviceName, 'switchboard', 'the name of the service in traces'),
      resource: variable(
        'OTEL_RESOURCE_ATTRIBUTES',
        resourceAttributes,
        '',
        'what traces say of where they come from: name=value, comma-separated, values percent-encoded',
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
        'which sessions are traced; parentbased: as the back end says whose trace is followed',
      ),
      ratio: variable('OTEL_TRACES_SAMPLER_ARG', s.share, '1', 'the share of sessions that traceidratio traces'),
      trustsPages: variable(
        'TRUST_TRACEPARENT',
        s.boolean,
        'false',
        'true: the traceparent of a page is followed as that of a service token is; else its trace is a link',
      ),
    },
  },
};
