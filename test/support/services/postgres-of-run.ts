import type { TestProject } from 'vitest/node';
import { reasonToSkipPostgres, startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** See `freshDatabase`; absent where PostgreSQL is not installed. */
    readonly postgresUrl?: string;
  }
}

/** One PostgreSQL for all files that neither stop nor freeze it. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (reasonToSkipPostgres() !== undefined) return undefined;
  const server = await startPostgres();
  provide('postgresUrl', server.url);
  return () => server.stop();
}
