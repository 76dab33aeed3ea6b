import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/** What needs no server and no other process: laws, features, and requests as values. */
const include = ['test/{machines,actors,features,http}/**/*.test.ts'];
/** But these take seconds each: they load linters, wait for a mail server that hangs, or live through hours second by second. */
const slow = [
  'test/features/auth/verify-code.test.ts',
  'test/features/mail/smtp.test.ts',
  'test/features/metering/{metering,call-budgets}.test.ts',
  'test/http/{openapi,openapi-lint}.test.ts',
];

const exclude = [...configDefaults.exclude, ...slow];
// What did not change since the last run is not translated anew.
const config = mergeConfig(
  whole,
  defineConfig({ test: { exclude, env: { FEWER_EXAMPLES: 'yes' }, experimental: { fsModuleCache: true } } }),
);

// These wait for nobody. (Merged, what is included would be added.)
export default { ...config, test: { ...config.test, include, maxWorkers: 2 } };
