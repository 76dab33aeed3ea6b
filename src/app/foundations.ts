import { type Config, ConfigError } from '../../config/config.ts';
import type { BotDetector } from '../bots/contract.ts';
import type { Database, Patience } from '../database/database.ts';
import { migrate, requireMigrated } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { type Clock, iso } from '../kernel/time.ts';
import type { Disposables } from '../kernel/async.ts';
import type { KeptMail, Mailer } from '../mail/contract.ts';
import { DevMailbox } from '../mail/dev-mailbox.ts';
import { SmtpMailer } from '../mail/smtp.ts';
import { readPrices, type Prices } from '../metering/prices.ts';
import { thisNode, type NodeIdentity } from '../node/this-node.ts';
import { createLoopDelay, type LoopDelay } from '../operators/live/this-process.ts';
import type { LiveStores } from '../stores/contract.ts';
import { createPostgresStores, type PostgresStores } from '../stores/postgres.ts';
import { createEvents, type Events } from '../telemetry/events.ts';
import type { Log } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { requestsGiven } from '../transport/request.ts';
import type { BrokeredProvider, UpstreamProvider } from '../upstream/contract.ts';
import { openProvider, selectOthers } from '../upstream/select.ts';
import { requireBrokering, faultsOfFiles, StartFaults } from './file-faults.ts';
import { openLiveStores } from './stores.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';

/** What a service is built on: engines (the database with its tables), outside parties, clock. The command or a test opens them. */
export interface Foundations {
  readonly config: Config;
  readonly clock: Clock;
  /** Waits for a given time, for requests that wait for another one. */
  readonly pause?: (ms: number) => Promise<unknown>;
  readonly database: Database;
  readonly stores: PostgresStores;
  readonly live: LiveStores;
  readonly mailer: Mailer;
  readonly provider: UpstreamProvider;
  /** The same provider with other credentials, which only hear and end calls. */
  readonly others?: readonly BrokeredProvider[];
  readonly prices: Prices;
  /** Replaces the detectors that the settings name. */
  readonly bots?: BotDetector | undefined;
  readonly events: Events;
  readonly metrics: Metrics;
  /** Receives faults in work that no request waits for. */
  readonly onError: (error: unknown) => void;
  readonly node: NodeIdentity;
  /** How many request ids this process has assigned. */
  readonly requestsGiven: () => number;
  readonly loop: LoopDelay;
  /** The service's own address, without a trailing slash. A function, because a free port is known late. */
  readonly publicUrl: () => string;
  /** False from the moment a shutdown begins. */
  readonly isAccepting: () => boolean;
}

/** Replacements of real parts, for tests and other hosts. */
export interface Overrides {
  readonly clock?: Clock;
  /** Receives each mail that reaches the development mailbox. */
  readonly onDevMail?: (mail: KeptMail) => void;
}

/**
 * Opens what a service is built on; `disposables` closes what was opened.
 * @param patience how long to wait for the database; the caller may change it later
 * @throws ConfigError or TenantsFileError for the files, StartFaults for several at once, DirectoryInUse, MigrationError, Unavailable
 */
export async function openFoundations(
  config: Config,
  log: Log,
  overrides: Overrides,
  patience: Patience,
  disposables: Disposables,
): Promise<Omit<Foundations, 'publicUrl' | 'isAccepting'>> {
  const metrics = new Metrics();
  metrics.watchProcess();
  const events = createEvents(log, metrics);
  const onError = (error: unknown): void => events.faulted(error, undefined, 'background work');

  const database = await openChecked(config, disposables, patience);
  const prices = readPrices(config.calls.pricesFile);
  const stores = createPostgresStores(database);
  const live = await openLiveStores(config, {
    node: thisNode.id,
    history: stores.history,
    localClock: overrides.clock,
    clockAgreements: stores.clockAgreements,
    onError,
    events,
  });
  disposables.add(() => live.close());
  const { clock } = live;
  metrics.observe(
    'switchboard_clock_lead_seconds',
    'By how much the time in use is ahead of the live store, whose clock was set',
    () => (clock.leadMs ?? 0) / 1000,
  );
  const { server, from } = config.mail;
  const mailer =
    server === undefined ? new DevMailbox({ clock, onMail: overrides.onDevMail }) : new SmtpMailer({ server, from });
  disposables.add(() => mailer.close());
  const provider = openProvider({ ...config.upstream, clock }, config.mode);
  requireBrokering(config, provider);
  await requireDrained(config, provider, stores.calls, clock.now());
  disposables.add(() => provider.close?.());
  return {
    config,
    clock,
    database,
    stores,
    live,
    mailer,
    provider,
    others: selectOthers({ ...config.upstream, clock }),
    prices,
    events,
    metrics,
    onError,
    node: thisNode,
    requestsGiven,
    loop: createLoopDelay(),
  };
}

/** Opens the database with its tables. Faults of the files and a database that is away are reported together. */
async function openChecked(config: Config, disposables: Disposables, patience: Patience): Promise<Database> {
  const faults = await faultsOfFiles(config);
  try {
    const database = await openDatabase(config, patience);
    disposables.add(() => database.close());
    if (faults.length === 0) {
      await (config.migrations === 'never' ? requireMigrated : migrate)(database);
      return database;
    }
  } catch (fault) {
    if (faults.length === 0) throw fault;
    throw new StartFaults([...faults, fault]);
  }
  throw faults.length === 1 ? faults[0] : new StartFaults(faults);
}

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
