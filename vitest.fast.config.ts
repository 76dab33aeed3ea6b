import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/** What starts no server of ours and no other process: laws, features, and requests as values. */
const include = ['test/{machines,actors,features,http,site}/**/*.test.ts'];
/**
 * But these take seconds each: they load linters, wait for a mail server that hangs, live through hours second by second, break real
 * sockets, ask a thousand times, or build a service for each of many cases.
 */
const slow = [
  'test/features/auth/{send-code,verify-code}.test.ts',
  'test/features/calls/{sideband,take-over}.test.ts',
  'test/features/mail/smtp.test.ts',
  'test/features/metering/{metering,call-budgets}.test.ts',
  'test/features/upstream/{brokered-faults,call-socket,realtime-sideband}.test.ts',
  'test/http/{create-idempotency,rate-limits,open-call,openapi,openapi-lint}.test.ts',
  'test/http/{operator,operator-end-many,routing,walk}.test.ts',
];

const exclude = [...configDefaults.exclude, ...slow];
const config = mergeConfig(whole, defineConfig({ test: { exclude, env: { FEWER_EXAMPLES: 'yes' } } }));

// Neither browsers nor PostgreSQL. With two workers the processor is idle while they wait for their databases; a third uses that time.
// (Merged, what is listed here would be added.)
const globalSetup = ['test/support/run.ts'];
export default { ...config, test: { ...config.test, include, globalSetup, maxWorkers: 3 } };
