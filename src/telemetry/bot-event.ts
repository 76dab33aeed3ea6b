import type { Dependency } from '../kernel/errors.ts';
import type { Whose } from './activity.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Within } from './tool-events.ts';

interface VerdictNotice {
  readonly provider: string;
  readonly isBot: boolean;
  readonly isVerifiedBot: boolean;
  readonly confidence: number;
  readonly degraded?: boolean | undefined;
  readonly reason?: string | undefined;
  /** The outcome of the challenge; undefined where none was due. */
  readonly outcome?: 'due' | 'solved' | 'wrong' | 'away' | 'misconfigured' | undefined;
}

/** Logs and counts each verdict, and reports a challenge provider that is away or rejects the settings. */
export function botEvent(
  log: Log,
  metrics: Metrics,
  within: Within,
  dependencyAway: (dependency: Dependency, error: unknown, requestId: string) => void,
) {
  return (notice: VerdictNotice, requestId: string, whose: Whose): void => {
    const { provider, isBot, isVerifiedBot, confidence, degraded, reason, outcome: challenge } = notice;
    const verdict = isBot ? (isVerifiedBot ? 'verified_bot' : 'bot') : 'human';
    metrics.verdicts.inc({ provider, verdict });
    if (challenge !== undefined) {
      metrics.challenges.inc({ outcome: challenge });
      metrics.activity.count('challenged', challenge, whose);
    }
    const judged = { provider, isBot, isVerifiedBot, confidence, degraded, reason, challenge };
    log.info({ event: 'bot.judged', requestId, verdict, ...judged });
    if (challenge === 'away') dependencyAway('bots', new Error(reason), requestId);
    if (challenge === 'misconfigured')
      within('bot provider', (about) => log.error({ event: 'bot.misconfigured', requestId, reason, ...about }));
  };
}
