import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { memoryFolder } from './test/support/memory-folder.ts';
import { soon } from './test/support/soon.ts';

const temporary = process.env['TMPDIR'] ?? memoryFolder();
// For this process and all that it starts.
if (temporary !== undefined) process.env['TMPDIR'] = temporary;

export default defineConfig({
  test: {
    // A hang, and nothing else, runs into these: how busy the machine is decides no test.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: soon },
    // Not setImmediate: by it the database's driver sends what it was asked, and never sends again where one was lost.
    fakeTimers: {
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    },
    pool: 'forks',
    // The files of a worker share its modules, and so its embedded database.
    isolate: false,
    // Most tests wait for servers and timers, and while some do, browsers and those that wait for nobody keep two cores busy.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    include: ['test/**/*.test.ts'],
    // What did not change since the last run is not translated anew.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/properties.ts'],
    globalSetup: [
      'test/support/run.ts',
      'test/support/services/postgres-of-run.ts',
      'test/support/services/chromium-of-run.ts',
    ],
  },
});
