import { z } from 'zod';
import { tool, type Tool } from './agent.ts';
import { text } from './fields.ts';

/** The kind of a tool that Switchboard calls; tools of all other kinds are for the page. */
export const SERVER_TOOL = 'server_tool';

const MAX_HEADERS = 16;
const MAX_HEADER_LENGTH = 1024;
/** Request headers that Switchboard sets itself. */
const OWN_HEADERS =
  /^(?:host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|accept-encoding|webhook-.*|idempotency-key|traceparent)$/i;

const header = z
  .string()
  .max(MAX_HEADER_LENGTH, `must be at most ${MAX_HEADER_LENGTH} characters`)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');

/** A tool that Switchboard calls, as a tenant's agent defines it. No page and no provider learns its address and headers. */
export const serverTool = z.strictObject({
  ...tool.shape,
  kind: z.literal(SERVER_TOOL),
  parameters: z.record(z.string(), z.unknown()).optional(),
  url: text(2048),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'must be the name of a header'), header)
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `must be at most ${MAX_HEADERS} headers`)
    .refine(
      (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.test(name)),
      'must not name a header that Switchboard sets itself',
    )
    .default({}),
  timeoutMs: z.int().min(500, 'must be at least 500').max(30_000, 'must be at most 30000').default(8000),
  microDollars: z.int().min(0, 'must not be negative').max(1_000_000_000, 'must be at most 1000000000').default(0),
  say: text(500).optional(),
});

/** The names of the secrets that a header's value refers to as `${secret:NAME}`. */
export function secretsIn(value: string): string[] {
  return [...value.matchAll(/\$\{secret:([^}]*)\}/g)].map(([, name = '']) => name);
}

export type ServerTool = Readonly<z.infer<typeof serverTool>>;

/** The names of all secrets that a tool's headers refer to. */
export function secretNamesOf({ headers }: Pick<ServerTool, 'headers'>): readonly string[] {
  return [...new Set(Object.values(headers).flatMap(secretsIn))];
}

/**
 * The tools of a session that Switchboard calls, by name. A caller's own tool has no address and is therefore not among them.
 * @param tools as the session was created with them
 */
export function serverToolsOf(tools: readonly Tool[]): ReadonlyMap<string, ServerTool> {
  const own = tools
    .filter(({ kind }) => kind === SERVER_TOOL)
    .flatMap((found) => serverTool.safeParse(found).data ?? []);
  return new Map(own.map((found) => [found.name, found]));
}
