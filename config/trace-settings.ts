import { z } from 'zod';
import * as s from './schemas.ts';

const MAX_PAIRS = 64;

/** OpenTelemetry's names for how OTLP is sent. Switchboard supports only the last one. */
export const PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

const address = s
  .url(['http', 'https'])
  .refine(
    (text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '',
    'must hold no user or password: use OTEL_EXPORTER_OTLP_HEADERS',
  );

/** The address of a collector. It contains no credentials: those are sent in a header. */
export const collectorUrl: z.ZodType<string, string> = address.refine(
  (text) => !URL.canParse(text) || new URL(text).search + new URL(text).hash === '',
  'must hold no query and no fragment: /v1/traces is added to it',
);

/** The address for traces only, which is used unchanged. */
export const tracesUrl: z.ZodType<string, string> = address.refine(
  (text) => !URL.canParse(text) || new URL(text).hash === '',
  'must hold no fragment',
);

/** The name of a service. */
export const serviceName = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable characters');

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
export const headerList = pairs(/^[!#$%&'*+.^_`|~\w-]+$/, /^[\x20-\x7e]+$/);

export const resourceAttributes = pairs(/^[\w.:/-]{1,256}$/, /^.{1,1024}$/);
