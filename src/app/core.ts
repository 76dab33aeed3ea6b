import { edgeWindows, type EdgeWindows } from '../limits/edge.ts';
import { DevMailbox } from '../mail/dev-mailbox.ts';
import type { Foundations } from './foundations.ts';
import { openJournal, type OpenJournal } from './journal.ts';

/** What every feature stands on. */
export interface Core extends Foundations {
  readonly installationKey: Buffer;
  readonly edge: EdgeWindows;
  readonly journal: OpenJournal;
  /** The development mailbox; undefined where mail is sent for real. */
  readonly mailbox: DevMailbox | undefined;
  /** Whether browsers reach the service by https. */
  readonly isHttps: () => boolean;
}

/** Opens the journal first, so that every feature can be given it. @throws Unavailable when the database is away */
export async function openCore(on: Foundations): Promise<Core> {
  const installationKey = await on.stores.installation.secret('subjects');
  return {
    ...on,
    installationKey,
    edge: edgeWindows(on.config.edge),
    journal: openJournal({ ...on, installationKey }),
    mailbox: on.mailer instanceof DevMailbox ? on.mailer : undefined,
    isHttps: () => on.publicUrl().startsWith('https:'),
  };
}
