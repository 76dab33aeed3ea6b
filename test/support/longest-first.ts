import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take more than some seconds, the longest first: one that began last would keep a single core busy at the end.
 * A file that is missing here costs time and nothing else.
 */
const LONGEST = [
  // Not long: it tells what runs in its process, where nothing of another file may be left.
  'http/walk',
  'browser/console-keys',
  'contracts/embedded',
  'e2e/restart',
  'browser/console-overview',
  'e2e/calls-nodes',
  'browser/call',
  'contracts/postgres',
  'e2e/calls-ends',
  'e2e/overdue',
  'browser/resilience',
  'redis/faults-cluster',
  'browser/brokered',
  'e2e/workers',
  'e2e/start',
  'browser/quiet',
  'browser/demo',
  'database/outage',
  'redis/outage',
  'browser/console-access',
  'browser/access',
  'browser/echo',
  'channel/nodes',
  'browser/access-reference',
  'browser/chart',
  'e2e/package',
  'e2e/calls-faults',
  'browser/console-sessions',
  'browser/console-login',
  'contracts/redis',
  'database/embedded/directory',
  'database/embedded/survival',
  'browser/demo-echo',
  'e2e/tenants',
  'redis/slots',
  'redis/faults',
  'browser/console-away',
  'browser/background',
  'channel/missed',
  'e2e/calls-meter',
  'e2e/mail',
  'browser/widget',
  'e2e/readme',
  'database/embedded/housekeeping',
  'web/node',
  'web/bundle',
  'database/embedded/directory-lock',
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
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => group(a) - group(b) || place(a) - place(b));
  }
}
