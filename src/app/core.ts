import { edgeWindows, type EdgeWindows } from '../rate-limits/requests-per-minute.ts';
import { DevMailbox } from '../mail/dev-mailbox.ts';
import { NodeLease } from '../node/lease.ts';
import { NodeList } from '../node/nodes.ts';
import { createCalendar } from '../quota/calendar.ts';
import type { SecretsDeps } from '../tenant-secrets/secrets.ts';
import type { Foundations } from './foundations.ts';
import { openJournal, type OpenJournal } from './journal.ts';
import { ConfigError, type Config } from '../../config/config.ts';
import { createSealer, type Sealer } from '../kernel/seal.ts';
import type { Installation } from '../stores/installation/contract.ts';
import type { TenantSecrets } from '../stores/tenant-secrets/contract.ts';

/** What every feature depends on. */
export interface Core extends Foundations {
  readonly installationKey: Buffer;
  readonly edge: EdgeWindows;
  readonly journal: OpenJournal;
  /** Turns instants into days of QUOTA_TIMEZONE. */
  readonly calendar: ReturnType<typeof createCalendar>;
  /** All nodes of the installation as this one knows them. */
  readonly nodes: NodeList;
  /** States in Redis and PostgreSQL that this node is alive. */
  readonly lease: NodeLease;
  /** Reads and changes the secrets of tenants. */
  readonly secrets: SecretsDeps;
  /** Seals what back ends pass on to the servers of tools. */
  readonly contexts: Sealers['contexts'];
  /** The development mailbox; undefined where mail is sent for real. */
  readonly mailbox: DevMailbox | undefined;
  /** Whether browsers reach the service over https. */
  readonly isHttps: () => boolean;
}

/**
 * Opens the journal first, so that every feature can use it.
 * @throws ConfigError for secrets that cannot be opened, Unavailable when the database is away
 */
export async function openCore(foundations: Foundations): Promise<Core> {
  const { stores, live, clock, onError } = foundations;
  const node = foundations.node.id;
  const installationKey = await stores.installation.secret('subjects');
  const { secrets: sealer, contexts } = await openSealers(foundations.config, stores.installation);
  await requireSealer(sealer, stores.tenantSecrets);
  const journal = openJournal({ ...foundations, installationKey });
  const nodes = new NodeList({ node, bus: live.bus, clock });
  return {
    ...foundations,
    installationKey,
    edge: edgeWindows(foundations.config.edge),
    journal,
    calendar: createCalendar(foundations.config.quotaTimeZone),
    nodes,
    lease: new NodeLease({ node, calls: stores.liveNodes, sockets: live.sockets, nodes, clock, onError }),
    secrets: { secrets: stores.tenantSecrets, acts: journal.acts, clock, sealer },
    contexts,
    mailbox: foundations.mailer instanceof DevMailbox ? foundations.mailer : undefined,
    isHttps: () => foundations.publicUrl().startsWith('https:'),
  };
}

/** Sealers for tenants' data, one for each purpose; undefined in production without a key. */
export interface Sealers {
  readonly secrets: Sealer | undefined;
  /** For what back ends pass on to the servers of tools. */
  readonly contexts: Sealer | undefined;
}

/**
 * Opens SEALING_KEY, otherwise a key of the installation that is stored beside what it seals. The latter does not protect a database dump
 * and is for development only.
 * @throws Unavailable when the database is away
 */
export async function openSealers(
  { sealingKeys, mode }: Pick<Config, 'sealingKeys' | 'mode'>,
  installation: Pick<Installation, 'secret'>,
): Promise<Sealers> {
  const given = sealingKeys ?? (mode === 'production' ? [] : [await installation.secret('sealing')]);
  const [first, ...others] = given;
  const sealerFor = (purpose: string): Sealer | undefined =>
    first === undefined ? undefined : createSealer([first, ...others], purpose);
  return { secrets: sealerFor('switchboard tenant secrets'), contexts: sealerFor('switchboard session contexts') };
}

/**
 * Refuses to start when secrets exist but cannot be opened; otherwise the tools that use them would fail call by call.
 * @throws ConfigError where there are secrets and no sealer; Unavailable when the database is away
 */
export async function requireSealer(sealer: Sealer | undefined, secrets: Pick<TenantSecrets, 'any'>): Promise<void> {
  if (sealer !== undefined) return;
  const one = await secrets.any();
  if (one === undefined) return;
  const message = `is needed: the database holds secrets that it sealed (${one.tenantId}/${one.name} is one)`;
  throw new ConfigError([{ name: 'SEALING_KEY', message, example: 'the output of: openssl rand -base64 32' }]);
}
