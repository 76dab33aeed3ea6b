import { edgeWindows, type EdgeWindows } from '../rate-limits/requests-per-minute.ts';
import { DevMailbox } from '../mail/dev-mailbox.ts';
import { NodeLease } from '../node/lease.ts';
import { NodeList } from '../node/nodes.ts';
import { createCalendar } from '../quota/calendar.ts';
import type { SecretsDeps } from '../secrets/secrets.ts';
import type { Foundations } from './foundations.ts';
import { openJournal, type OpenJournal } from './journal.ts';
import { openSealers, requireSealer, type Sealers } from './sealer.ts';

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
