import { inspect, service } from '../src/app/variables.ts';
import { access, auth, otp } from '../src/auth/variables.ts';
import { bots } from '../src/bots/variables.ts';
import { calls } from '../src/calls/variables.ts';
import { socketLimits } from '../src/channel/variables.ts';
import { database, dataDir, migrations } from '../src/database/variables.ts';
import { consoleOrigins, publicUrl, trustedProxies } from '../src/http/variables.ts';
import { requestRates } from '../src/rate-limits/variables.ts';
import { mail } from '../src/mail/variables.ts';
import { pricesFile } from '../src/metering/variables.ts';
import { outbound } from '../src/outbound/variables.ts';
import {
  consoleLimits,
  quotaTimeZone,
  reserveSec,
  widgetLimits,
  widgetTokensPerMinute,
} from '../src/quota/variables.ts';
import { reconciliation } from '../src/reconciliation/variables.ts';
import { redis } from '../src/redis/variables.ts';
import { sealingKeys } from '../src/tenant-secrets/variables.ts';
import { retentionDays } from '../src/retention/variables.ts';
import { logging, traces } from '../src/telemetry/variables.ts';
import { tenantsFile } from '../src/tenants/variables.ts';
import { upstream } from '../src/upstream/variables.ts';
import { heartbeatIntervalSec, sessionRequirements, voice } from '../src/sessions/variables.ts';
import { mapVariables, variablesOf, type NamesOf, type ValuesOf, type Variable } from './variable.ts';

/**
 * Every variable, in the groups and the order of the documentation. Each feature describes its own, in `src/<feature>/variables.ts`. The fields here
 * are those of `Config`. Help, messages, `check-config`, the documentation and config/compose.yaml derive from this table.
 */
export const groups = {
  'The service': { ...service, publicUrl, trustedProxies, ...logging, inspect },
  'Storage and tenants': { ...database, ...redis, migrations, dataDir, tenantsFile, retentionDays },
  'Upstream model provider': { upstream },
  Reconciliation: { reconciliation },
  Calls: { calls: { ...calls, reserveSec, pricesFile } },
  'Who may use it': { ...access, consoleOrigins, ...sessionRequirements },
  'Servers of tenants': { sealingKeys, outbound },
  'Console login': { mail, otp, auth },
  'Bot protection': { bots },
  'Voice sessions': { voice, heartbeatIntervalSec },
  'Rate limits': { edge: { ...requestRates, ...socketLimits } },
  'Limits of widget callers (a key may have its own)': { widget: widgetLimits, widgetTokensPerMinute },
  'Limits of console callers': { console: consoleLimits, quotaTimeZone },
  Traces: { traces },
};

type Merged<U> = (U extends unknown ? (part: U) => void : never) extends (whole: infer W) => void ? W : never;

/** The values of the variables, by their fields in the table. */
export type Settings = ValuesOf<Merged<(typeof groups)[keyof typeof groups]>>;
export type VariableName = NamesOf<typeof groups>;

/** All variables, in the order of the table. */
export const variables: readonly Variable[] = Object.values(groups).flatMap(variablesOf);

/** @param valueOf reads the value of a variable */
export function readVariables(valueOf: (variable: Variable) => unknown): Settings {
  return Object.assign({}, ...Object.values(groups).map((fields) => mapVariables(fields, valueOf))) as Settings;
}
