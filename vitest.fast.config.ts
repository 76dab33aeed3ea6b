import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/** What needs no server and no other process: laws, features, and requests as values. */
const include = ['test/{machines,actors,features,http}/**/*.test.ts'];
/** But linters take seconds to load, and a mail server that hangs is waited for. */
const slow = ['test/http/openapi-lint.test.ts', 'test/features/mail/smtp.test.ts'];

const config = mergeConfig(whole, defineConfig({ test: { exclude: [...configDefaults.exclude, ...slow] } }));

// These wait for nobody. (Merged, what is included would be added.)
export default { ...config, test: { ...config.test, include, maxWorkers: 2 } };
