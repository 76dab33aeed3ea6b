import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

export const logging = {
  logLevel: variable(
    'LOG_LEVEL',
    s.choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
    'how much is logged; debug logs each request and each transition',
  ),
  debugMetrics: variable(
    'DEBUG_METRICS',
    s.boolean,
    'false',
    'true: /metrics needs no credential and replies carry Server-Timing',
  ),
};

const MAX_PAIRS = 64;

/** OpenTelemetry's names for how OTLP is sent. Switchboard supports only the last one. */
const PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

const address = s
  .url(['http', 'https'])
  .refine(
    (text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '',
    'must hold no user or password: use OTEL_EXPORTER_OTLP_HEADERS',
  );

/** The address of a collector. It contains no credentials: those are sent in a header. */
const collectorUrl: z.ZodType<string, string> = address.refine(
  (text) => !URL.canParse(text) || new URL(text).search + new URL(text).hash === '',
  'must hold no query and no fragment: /v1/traces is added to it',
);

/** The address for traces only, which is used unchanged. */
const tracesUrl: z.ZodType<string, string> = address.refine(
  (text) => !URL.canParse(text) || new URL(text).hash === '',
  'must hold no fragment',
);

/** The name of a service. */
const serviceName = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable characters');

/** `name=value` pairs, comma-separated, values percent-encoded (as W3C Baggage has them). Messages never repeat a value. */
function pairs(isName: RegExp, isValue: RegExp): z.ZodType<Readonly<Record<string, string>>, string> {
  return s.list.transform((entries, context) => {
    const found = entries.map(pairOf);
    const isWrong = found.findIndex((pair) => pair === undefined || !isName.test(pair[0]) || !isValue.test(pair[1]));
    if (isWrong === -1 && entries.length <= MAX_PAIRS) return Object.fromEntries(found as [string, string][]);
    const message =
      isWrong === -1
        ? `must hold at most ${MAX_PAIRS} pairs`
        : `must be pairs name=value; number ${isWrong + 1} is none`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function pairOf(entry: string): readonly [string, string] | undefined {
  const [name = '', ...value] = entry.split('=');
  if (value.length === 0) return undefined;
  try {
    return [name.trim(), decodeURIComponent(value.join('=').trim())];
  } catch {
    return undefined;
  }
}

/** Characters that the HTTP client would refuse are refused here, because its error would repeat the header. */
const headerList = pairs(/^[!#$%&'*+.^_`|~\w-]+$/, /^[\x20-\x7e]+$/);

const resourceAttributes = pairs(/^[\w.:/-]{1,256}$/, /^.{1,1024}$/);

/** Where traces are sent and which sessions are traced, with OpenTelemetry's names. */
export const traces = {
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
};
