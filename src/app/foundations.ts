import type { Config } from '../../config/config.ts';
import type { BotDetector } from '../bots/contract.ts';
import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Mailer } from '../mail/contract.ts';
import type { Prices } from '../metering/prices.ts';
import type { NodeIdentity } from '../node/identity.ts';
import type { LoopDelay } from '../operator/loop-delay.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { PostgresStores } from '../stores/postgres.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { BrokeredProvider, UpstreamProvider } from '../upstream/contract.ts';

/** What a service stands on: engines, outside parties, clock. The command opens them, or a test does. */
export interface Foundations {
  readonly config: Config;
  readonly clock: Clock;
  /** How a request that waits for another lets time pass. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Migrated. */
  readonly database: Database;
  readonly stores: PostgresStores;
  readonly live: LiveStores;
  readonly mailer: Mailer;
  readonly provider: UpstreamProvider;
  /** The same provider with credentials that only hear and end calls. */
  readonly others?: readonly BrokeredProvider[];
  readonly prices: Prices;
  readonly bots: BotDetector;
  readonly events: Events;
  readonly metrics: Metrics;
  /** Gets faults in work that no request waits for. */
  readonly onError: (error: unknown) => void;
  readonly node: NodeIdentity;
  /** How many request ids this process has given. */
  readonly requestsGiven: () => number;
  readonly loop: LoopDelay;
  /** The service's own address, without a trailing slash; asked late, because a free port is known late. */
  readonly publicUrl: () => string;
  /** False from the moment a shutdown begins. */
  readonly isAccepting: () => boolean;
}
