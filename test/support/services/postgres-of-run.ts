import type { TestProject } from 'vitest/node';
import { reasonToSkipPostgres, startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** See `freshDatabase`; absent where PostgreSQL is not installed. */
    readonly postgresUrl?: string;
  }
}

/** Tests of values, which ask no server for anything. */
const VALUES = /\/test\/(?:machines|actors|features|http)\//;

/** One PostgreSQL for all files that neither stop nor freeze it, if any of them may need one. */
export default async function setup({ provide, vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const isNeeded = vitest.state.getPaths().some((path) => !VALUES.test(path));
  if (!isNeeded || reasonToSkipPostgres() !== undefined) return undefined;
  const server = await startPostgres();
  provide('postgresUrl', server.url);
  return () => server.stop();
}
