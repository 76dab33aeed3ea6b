import { configDefaults, defineConfig } from 'vitest/config';

/** What needs no server and no other process: laws, features, and requests as values. */
const values = 'test/{machines,actors,features,http}/**/*.test.ts';
/** But linters take seconds to load, and a mail server that hangs is waited for. */
const slow = ['test/http/openapi-lint.test.ts', 'test/features/mail/smtp.test.ts'];
const pages = 'test/browser/**/*.test.ts';

export default defineConfig({
  test: {
    // A hang, and nothing else, runs into these: how busy the machine is decides no test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // The files of a worker share its modules, and so its embedded database.
    isolate: false,
    // Most tests wait for servers and timers.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: [values],
          exclude: [...configDefaults.exclude, ...slow],
          globalSetup: ['test/support/run.ts'],
          // These wait for nobody.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: [pages],
          globalSetup: [
            'test/support/run.ts',
            'test/support/services/postgres-of-run.ts',
            'test/support/services/chromium-of-run.ts',
          ],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/*.test.ts', 'test/!(machines|actors|features|http|browser)/**/*.test.ts', ...slow],
          globalSetup: ['test/support/run.ts', 'test/support/services/postgres-of-run.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
