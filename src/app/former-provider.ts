import { ConfigError, type Config } from '../../config/config.ts';
import { iso } from '../kernel/time.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';

/**
 * Checks for calls that are still open at a former provider, which the present one can neither hear nor end.
 * @throws ConfigError while there are such calls, unless FORMER_PROVIDER_DRAIN abandons them; Unavailable when the database is away
 */
export async function requireDrained(
  { calls: { formerProviderDrain } }: Pick<Config, 'calls'>,
  { name }: Pick<UpstreamProvider, 'name'>,
  calls: Pick<VoiceCalls, 'openElsewhere'>,
  atMs: number,
): Promise<void> {
  if (formerProviderDrain === 'ignore') return;
  const problems = (await calls.openElsewhere(name, atMs)).map(({ provider, count, newest, endsAtMs }) => ({
    name: 'UPSTREAM_PROVIDER',
    message:
      `must not change to ${name} while ${count} ${count === 1 ? 'call' : 'calls'} of ${provider} may be open (${newest.join(', ')}${count > newest.length ? ', …' : ''}), ` +
      `which nobody could hear or end any more: start with ${provider} and let them end, the provider does so by ${iso(endsAtMs)} at the latest; ` +
      `or set FORMER_PROVIDER_DRAIN=ignore, and see with ${provider} whether they are billed`,
    example: provider,
  }));
  if (problems.length > 0) throw new ConfigError(problems);
}
