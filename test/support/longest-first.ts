import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take more than a few seconds, the longest first: started last, one of them would keep a single core busy at the end.
 * A file that is missing here only costs time.
 */
const LONGEST = [
  // Not long, but it reports what runs in its process, so nothing of another test file may be left there.
  'http/walk',
  'e2e/start',
  'e2e/restart',
  'redis/heartbeat-buffer.properties',
  'browser/demo',
  'e2e/workers',
  'browser/console-keys',
  'e2e/calls-nodes',
  'browser/console-tables',
  'e2e/disk-full',
  'browser/element',
  'browser/demo-echo',
  'browser/resilience',
  'contracts/embedded',
  'redis/outage',
  'browser/console-overview',
  'e2e/tenants',
  'browser/console-access',
  'database/embedded/directory',
  'e2e/calls-faults',
  'browser/console-sessions',
  'browser/brokered',
  'browser/call',
  'browser/examples',
  'web/node',
  'contracts/postgres',
  'browser/access',
  'browser/console-away',
  'database/outage',
  'browser/access-reference',
  'e2e/backup',
  'browser/echo',
  'e2e/package',
  'browser/chart',
  'e2e/usage-sums',
  'features/metering/metering',
  'e2e/reference',
  'redis/slots',
  'features/auth/code-limits',
  'browser/background',
  'browser/console-login',
  'database/embedded/survival',
  'redis/faults-cluster',
  'browser/resume',
  'redis/faults',
  'contracts/redis',
  'browser/console-calls',
  'features/calls/behaviour',
  'browser/quiet',
  'database/patience',
  'e2e/production',
  'e2e/readme',
  'e2e/mail',
  'browser/microphone',
  'web/client-package',
  'browser/firefox',
  'features/calls/former-holders',
  'database/embedded/directory-lock',
  'browser/live',
  'e2e/provider',
  'features/metering/call-budgets',
  'web/bundle',
  'e2e/calls-meter',
  'channel/missed',
  'e2e/clock',
  'e2e/calls-frames',
  'browser/widget',
  'e2e/key-totals',
  'browser/element-looks',
  'machines/held-call.properties',
  'database/embedded/housekeeping',
  'database/contract',
  'features/calls/outages',
  'redis/restoration',
  'features/calls/take-over',
  'e2e/proxies',
  'e2e/calls-open-channel',
  'redis/create-faults',
  'redis/bus',
  'http/openapi',
  'redis/socket-leases',
  'channel/nodes',
].map((name) => `test/${name}.test.ts`);

/** Vitest's own order, with the files that are known to be long moved to the front. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification): number => {
      const known = LONGEST.indexOf(relative(project.config.root, moduleId));
      return known === -1 ? LONGEST.length : known;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
