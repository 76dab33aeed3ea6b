import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';
import { isOrigin } from '../kernel/addresses.ts';

/** The service's own origin, without the trailing slash that address bars add. */
const ownOrigin: z.ZodType<string, string> = z
  .string()
  .transform((text) => text.replace(/\/$/, ''))
  .refine(isOrigin, 'must be the address that browsers use, such as https://voice.example.com, without a path');

export const publicUrl = variable(
  'PUBLIC_URL',
  ownOrigin,
  { unset: 'http://localhost:PORT' },
  "the service's own origin, for cookies (Secure when https), the CSRF check and links",
  { example: 'https://voice.example.com', production: true },
);

export const trustedProxies = variable(
  'TRUST_PROXY',
  s.networks,
  '',
  'comma-separated CIDRs of proxies whose X-Forwarded-For is trusted',
  { unset: 'unset: trust nobody', example: '10.0.0.0/8' },
);

/** An origin as browsers send it: scheme, host, and the port unless it is the scheme's default. */
const origin: z.ZodType<string, string> = z.string().refine((text) => isOrigin(text) && !text.includes('*'), {
  message: 'must be an origin such as https://www.example.com, without a path, a trailing slash or a wildcard',
});

export const consoleOrigins = variable(
  'CONSOLE_ORIGINS',
  s.list.pipe(z.array(origin)),
  { unset: "PUBLIC_URL's origin" },
  'origins that may use the console cookie',
  { example: 'https://voice.example.com' },
);
