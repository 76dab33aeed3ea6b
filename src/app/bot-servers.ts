import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/config.ts';
import { findUrlFault } from '../kernel/server-url.ts';

/** @throws ConfigError where the guard lets nobody ask the address that verifies solved challenges */
export function requireVerifyUrl({ bots, outbound }: Pick<Config, 'bots' | 'outbound'>): void {
  if (bots.verifyUrl === undefined) return;
  const rule = { ports: outbound.allowPorts, hasOwnNetworks: outbound.allowCidrs.rules.length > 0 };
  const fault = findUrlFault(bots.verifyUrl, rule);
  if (fault !== undefined) throw new ConfigError([{ name: 'BOT_VERIFY_URL', message: fault }]);
}
