import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The usual second is too short for a busy machine, and a condition that holds ends the wait anyway.
    expect: { poll: { timeout: 15_000 } },
    // Real servers on a busy machine miss their time once in a while. What fails twice is a defect; what needed its second try is told.
    retry: process.env['CI'] === undefined ? 0 : 1,
    pool: 'forks',
    // Most tests wait for servers and timers: two files at a time also on the smallest machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
