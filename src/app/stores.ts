import type { Config } from '../../config/config.ts';
import type { Clock } from '../kernel/clock.ts';
import { openRedisStores } from '../stores/redis.ts';
import { createInProcessStores } from '../stores/in-process.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { dueAt, longestMs, slotUntilMs } from '../voice/deadlines.ts';

export interface LiveDeps {
  readonly history: VoiceHistory;
  readonly localClock: Clock;
  readonly databaseTimeMs: () => Promise<number>;
  /** Gets faults that no caller can be told of. */
  readonly onError: (error: unknown) => void;
  readonly events: Pick<Events, 'edgeLocal' | 'edgeShared'>;
}

/** The live stores of the configuration: at REDIS_URL, else in this process. */
export async function openLiveStores({ redisUrls, redisPrefix, voice }: Config, deps: LiveDeps): Promise<LiveStores> {
  const { history, localClock, databaseTimeMs, onError, events } = deps;
  if (redisUrls === undefined) return createInProcessStores(dueAt(voice), localClock, onError);
  return openRedisStores({
    urls: redisUrls,
    prefix: redisPrefix,
    dueAt: dueAt(voice),
    keepMs: longestMs(voice),
    localClock,
    databaseTimeMs,
    onError,
    onEdgeLocal: events.edgeLocal,
    onEdgeShared: events.edgeShared,
    async slotHolders(subject) {
      const records = await history.activeOf(subject);
      return records.flatMap((record) => {
        const leaseUntilMs = slotUntilMs(record, voice);
        return leaseUntilMs === undefined ? [] : [{ holder: record.id, leaseUntilMs }];
      });
    },
  });
}
