import { apiDocument } from '../http/routes/all.ts';
import { exitCode, type Terminal } from './terminal.ts';

/** `print-openapi`: the OpenAPI document that /openapi.json serves. */
export function run(_args: readonly string[], { out }: Pick<Terminal, 'out'>): Promise<number> {
  out.write(`${JSON.stringify(apiDocument('http://localhost:3000'), null, 2)}\n`);
  return Promise.resolve(exitCode.ok);
}
