import { MINUTE_MS } from '../../kernel/time.ts';
import { mustWait, type Refusal } from '../../protocol/refusal.ts';
import { unitOf } from '../../protocol/refusal-why.ts';
import { leverOf, leverOfShared, SHARED_BY, type SharedCeilings } from '../../quota/ceilings.ts';
import type { CounterTake, TakenCount } from '../../stores/counters/contract.ts';
import type { AdmittedCaller, CreateDeps, CreateStep, OpeningBegun } from './context.ts';

/** A window that counts sessions. */
interface SessionsWindow {
  readonly key: string;
  readonly limit: number;
  /** Who shares it, for the caller who is refused. */
  readonly sharedBy: string | undefined;
  readonly lever: string;
}

/** Counts the session among those of its subject in this minute. */
export const countSubject = countingStep('minute', ({ subject, keyId, limits, overrides }) => ({
  key: `sessions:${subject}`,
  limit: limits.sessionsPerMinute,
  sharedBy: undefined,
  lever: leverOf('sessionsPerMinute', { keyId, overrides }),
}));

/** The same of the whole key: after the subject, so that one who is over its own limit takes nothing of what all share. */
export const countKey = countingStep('minute of the key', (caller) => sharedWindow('key', caller));

export const countTenant = countingStep('minute of the tenant', (caller) => sharedWindow('tenant', caller));

/** @param windowOf undefined where there is no such limit */
function countingStep(
  name: string,
  windowOf: (caller: AdmittedCaller) => SessionsWindow | undefined,
): CreateStep<TakenCount> {
  return {
    name,
    async take({ caller, opening: { atMs } }: OpeningBegun, { counters }: Pick<CreateDeps, 'counters'>) {
      const window = windowOf(caller);
      if (window === undefined) return undefined;
      const taken = await counters.take(window.key, window.limit, MINUTE_MS, atMs);
      return taken.allowed ? { key: window.key, windowStartMs: taken.windowStartMs } : tooMany(window, taken, atMs);
    },
    undo: (taken, { isCounted }, { counters }) => (isCounted === true ? undefined : counters.giveBack([taken])),
  };
}

function sharedWindow(whose: SharedCeilings['whose'], { shared }: AdmittedCaller): SessionsWindow | undefined {
  const ceilings = shared.find((one) => one.whose === whose);
  const limit = ceilings?.totals.sessionsPerMinute;
  if (ceilings === undefined || limit === undefined) return undefined;
  const key = `sessions:${ceilings.account}`;
  return { key, limit, sharedBy: SHARED_BY[whose], lever: leverOfShared('sessionsPerMinute', whose) };
}

function tooMany({ limit, sharedBy, lever }: SessionsWindow, { retryAtMs }: CounterTake, atMs: number): Refusal {
  const whose = sharedBy === undefined ? '' : ` of ${sharedBy}`;
  const why = { layer: 'minute', limit, count: limit, unit: 'sessions', lever } as const;
  return mustWait(`More than ${limit} ${unitOf(limit, 'sessions')}${whose} in a minute`, retryAtMs, atMs, why);
}
