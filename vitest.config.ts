import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { memoryFolder } from './test/support/memory-folder.ts';

/** What needs no server and no other process: laws, features, and requests as values. */
const values = 'test/{machines,actors,features,http}/**/*.test.ts';
/** But linters take seconds to load, and a mail server that hangs is waited for. */
const slow = ['test/http/openapi-lint.test.ts', 'test/features/mail/smtp.test.ts'];

const temporary = process.env['TMPDIR'] ?? memoryFolder();
// For this process and all that it starts.
if (temporary !== undefined) process.env['TMPDIR'] = temporary;

export default defineConfig({
  test: {
    // A hang, and nothing else, runs into these: how busy the machine is decides no test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // The files of a worker share its modules, and so its embedded database.
    isolate: false,
    // Most tests wait for servers and timers: so many keep two cores busy.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
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
          // One project, for browsers keep the processor busy while others wait.
          name: 'full',
          include: ['test/*.test.ts', 'test/!(machines|actors|features|http)/**/*.test.ts', ...slow],
          globalSetup: [
            'test/support/run.ts',
            'test/support/services/postgres-of-run.ts',
            'test/support/services/chromium-of-run.ts',
          ],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
