import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take more than some seconds, the longest first: one that began last would keep a single core busy at the end.
 * A file that is missing here costs time and nothing else.
 */
const LONGEST = [
  // Not long: it tells what runs in its process, where nothing of another file may be left.
  'http/walk',
  'e2e/restart',
  'contracts/embedded',
  'e2e/calls-nodes',
  'browser/console-keys',
  'browser/console-overview',
  'e2e/calls-ends',
  'redis/faults-cluster',
  'browser/echo',
  'browser/examples',
  'e2e/workers',
  'contracts/postgres',
  'browser/console-away',
  'redis/outage',
  'e2e/start',
  'contracts/redis',
  'e2e/calls-faults',
  'e2e/package',
  'browser/call',
  'browser/resilience',
  'browser/brokered',
  'browser/element',
  'database/embedded/directory',
  'browser/chart',
  'database/embedded/survival',
  'browser/access',
  'browser/demo',
  'browser/console-sessions',
  'redis/faults',
  'browser/console-access',
  'browser/access-reference',
  'browser/demo-echo',
  'browser/quiet',
  'e2e/tenants',
  'e2e/mail',
  'browser/console-login',
  'web/node',
  'redis/slots',
  'database/outage',
  'e2e/reference',
  'browser/firefox',
  'web/client-package',
  'browser/background',
  'database/embedded/housekeeping',
  'channel/nodes',
  'database/embedded/directory-lock',
  'channel/missed',
  'browser/widget',
  'e2e/calls-meter',
  'web/bundle',
  'e2e/readme',
  'e2e/provider',
  'redis/acl',
  'e2e/connections',
  'database/contract',
  'database/migrate',
  'redis/socket-leases',
  'redis/batch',
  'redis/restoration',
  'redis/bus',
  'transport/socket',
  'transport/hostile',
  'features/mail/smtp',
  'http/openapi-lint',
].map((name) => `test/${name}.test.ts`);

/** Vitest's own order, but for the files that are known to be long. */
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
