import { edgeWindows, type EdgeWindows } from '../limits/edge.ts';
import { DevMailbox } from '../mail/dev-mailbox.ts';
import { NodeLease } from '../node/lease.ts';
import { NodeList } from '../node/nodes.ts';
import type { Sealer } from '../kernel/seal.ts';
import type { Foundations } from './foundations.ts';
import { openJournal, type OpenJournal } from './journal.ts';
import { openSealer, requireSealer } from './sealer.ts';

/** What every feature stands on. */
export interface Core extends Foundations {
  readonly installationKey: Buffer;
  readonly edge: EdgeWindows;
  readonly journal: OpenJournal;
  /** All nodes of the installation as this one knows them. */
  readonly nodes: NodeList;
  /** That this node is alive, in the stores of what it holds. */
  readonly lease: NodeLease;
  /** Seals the secrets of tenants; undefined where there is no key to. */
  readonly sealer: Sealer | undefined;
  /** The development mailbox; undefined where mail is sent for real. */
  readonly mailbox: DevMailbox | undefined;
  /** Whether browsers reach the service by https. */
  readonly isHttps: () => boolean;
}

/** Opens the journal first, so that every feature can be given it. @throws ConfigError for secrets that nothing can open, Unavailable when the database is away */
export async function openCore(on: Foundations): Promise<Core> {
  const { stores, live, clock, onError } = on;
  const node = on.node.id;
  const installationKey = await stores.installation.secret('subjects');
  const sealer = await openSealer(on.config, stores.installation);
  await requireSealer(sealer, stores.tenantSecrets);
  const nodes = new NodeList({ node, bus: live.bus, clock });
  return {
    ...on,
    installationKey,
    edge: edgeWindows(on.config.edge),
    journal: openJournal({ ...on, installationKey }),
    nodes,
    lease: new NodeLease({ node, calls: stores.liveNodes, sockets: live.sockets, nodes, clock, onError }),
    sealer,
    mailbox: on.mailer instanceof DevMailbox ? on.mailer : undefined,
    isHttps: () => on.publicUrl().startsWith('https:'),
  };
}
