import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** One environment variable: how its text is read, and what `--help` and start-up errors teach about it. */
export interface Variable<T> {
  readonly schema: z.ZodType<T>;
  readonly meaning: string;
  /** The default as a reader of the help sees it. */
  readonly defaultText: string;
  readonly example: string;
  readonly requiredInProduction: boolean;
  /** Its value must never be printed. */
  readonly secret: boolean;
}

interface Teaching {
  readonly meaning: string;
  readonly default: string;
  readonly example?: string;
  readonly requiredInProduction?: boolean;
  readonly secret?: boolean;
}

export function variable<T>(schema: z.ZodType<T>, teaching: Teaching): Variable<T> {
  return {
    schema,
    meaning: teaching.meaning,
    defaultText: teaching.default,
    example: teaching.example ?? teaching.default,
    requiredInProduction: teaching.requiredInProduction ?? false,
    secret: teaching.secret ?? false,
  };
}

/** A whole number within bounds, written in decimal digits. */
export function integer(min: number, max: number, fallback: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .default(fallback);
}

/** An amount of dollars with at most six decimals, as micro-dollars. */
export function dollars(max: number, fallback: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount of dollars with at most 6 decimals')
    .transform((text) => Math.round(Number(text) * 1_000_000))
    .pipe(z.number().max(max * 1_000_000, `must be at most ${max}`))
    .default(fallback * 1_000_000);
}

export function choice<const T extends readonly [string, ...string[]]>(values: T): z.ZodType<T[number]> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

export const boolean: z.ZodType<boolean> = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

/** A comma-separated list without empty entries. */
export const list: z.ZodType<string[], string> = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** An address with a scheme of the list, as text. */
export function url(schemes: readonly string[]): z.ZodType<string, string> {
  const wanted = `must be an address that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return z.string().refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), wanted);
}

/** An origin as browsers send it: scheme, host and, where not the scheme's own, port. */
export const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  message: 'must be an origin such as https://www.example.com, without a path or a trailing slash',
});

/** Comma-separated CIDR blocks or single addresses of trusted proxies. */
export const proxies: z.ZodType<BlockList> = list.transform((entries, context) => {
  const blocks = new BlockList();
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const prefix = bits === undefined ? most : Number(bits);
    if (isIP(address) === 0 || rest.length > 0 || !/^\d*$/.test(bits ?? '') || bits === '' || prefix > most) {
      context.addIssue({ code: 'custom', message: `"${entry}" is not an address or a CIDR block such as 10.0.0.0/8` });
      continue;
    }
    blocks.addSubnet(address, prefix, family);
  }
  return blocks;
});
