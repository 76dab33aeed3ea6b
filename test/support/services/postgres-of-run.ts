import type { TestProject } from 'vitest/node';
import { reasonToSkipPostgres, startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** See `freshDatabase`; absent where PostgreSQL is not installed. */
    readonly postgresUrl?: string;
  }
}

/** Tests that do not need PostgreSQL. */
const embedded = /\/test\/(?:machines|actors|features|http)\//;

/** One PostgreSQL for all files of a run that do not stop or freeze it, if any of them may need it. */
export default async function setup({ provide, vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const isNeeded = vitest.state.getPaths().some((path) => !embedded.test(path));
  if (!isNeeded || reasonToSkipPostgres() !== undefined) return undefined;
  const server = await startPostgres();
  provide('postgresUrl', server.url);
  return () => server.stop();
}
