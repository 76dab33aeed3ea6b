import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** A whole number within bounds, written in decimal digits. */
export function integer(min: number, max: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** A number from 0 to 1 with at most three decimals. */
export const share: z.ZodType<number> = z
  .string()
  .regex(/^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/, 'must be a number from 0 to 1 with at most 3 decimals')
  .transform(Number);

export function choice<const T extends readonly [string, ...string[]]>(values: T): z.ZodType<T[number]> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

export const boolean: z.ZodType<boolean> = z
  .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
  .transform((text) => text === 'true' || text === '1');

/** A comma-separated list without empty entries. */
export const list: z.ZodType<string[], string> = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** An address with one of the given schemes, as text. */
export function url(schemes: readonly string[]): z.ZodType<string, string> {
  const wanted = `must be an address that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), wanted);
}

/** A credential that is sent in a header. */
export const credential: z.ZodType<string, string> = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

/** A comma-separated list of at least one credential. Messages never repeat a credential. */
export const credentials: z.ZodType<string[], string> = list.pipe(z.array(credential).min(1, 'must hold a key'));

/** Comma-separated CIDR blocks or single addresses. */
export const networks: z.ZodType<BlockList> = list.transform((entries, context) => {
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
