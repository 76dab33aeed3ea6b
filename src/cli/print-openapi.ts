import { apiDocument } from '../http/routes/all.ts';
import { exitCode, type Terminal } from './terminal.ts';

/** `print-openapi`: prints the OpenAPI document that /openapi.json serves; its server is PUBLIC_URL, if that is set. */
export function run(_args: readonly string[], { out, env }: Pick<Terminal, 'out' | 'env'>): Promise<number> {
  out.write(`${JSON.stringify(apiDocument(env['PUBLIC_URL'] || '/'), null, 2)}\n`);
  return Promise.resolve(exitCode.ok);
}
