import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take more than some seconds, the longest first: one that began last would keep a single core busy at the end.
 * A file that is missing here costs time and nothing else.
 */
const LONGEST = [
  // Not long: it tells what runs in its process, where nothing of another file may be left.
  'http/walk',
  'e2e/calls-ends',
  'e2e/restart',
  'e2e/overdue',
  'e2e/calls-nodes',
  'e2e/workers',
  'redis/faults-cluster',
  'redis/outage',
  'e2e/start',
  'browser/call',
  'e2e/package',
  'browser/quiet',
  'browser/resilience',
  'browser/brokered',
  'browser/demo-echo',
  'e2e/calls-faults',
  'e2e/calls-meter',
  'redis/slots',
  'redis/faults',
  'e2e/tenants',
  'database/outage',
  'browser/access',
  'database/embedded/survival',
  'browser/demo',
  'database/embedded/directory',
  'browser/access-reference',
  'contracts/redis',
  'e2e/mail',
  'browser/background',
  'e2e/readme',
  'contracts/embedded',
  'contracts/postgres',
  'redis/batch',
  'web/node',
  'e2e/provider',
  'transport/socket',
  'database/embedded/housekeeping',
  'redis/acl',
  'transport/hostile',
  'redis/bus',
  'redis/restoration',
  'database/contract',
  'features/mail/smtp',
  'channel/missed',
  'database/embedded/directory-lock',
  'browser/widget',
  'e2e/connections',
  'features/auth/send-code',
  'http/create-idempotency',
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
