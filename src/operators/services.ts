import type { Config } from '../../config/config.ts';
import type { Identity } from '../auth/identity.ts';
import type { Calls, Whispers } from '../calls/contract.ts';
import type { Usage } from '../quota/usage.ts';
import type { DurableStores, LiveStores } from '../stores/contract.ts';
import type { ActLog } from '../stores/journal/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import type { VoiceSessions } from '../sessions/sessions.ts';
import type { Refusals } from './journal/refusals.ts';

/** What the verbs and views of operators depend on. */
export interface OperatorCore {
  readonly config: Config;
  readonly stores: DurableStores;
  readonly live: Pick<LiveStores, 'windows'>;
  readonly provider: Pick<UpstreamProvider, 'capabilities'>;
  readonly journal: {
    /** The refusals of this process. */
    readonly refusals: Pick<Refusals, 'find' | 'newest'>;
    readonly acts: ActLog;
  };
  readonly events: Events;
  /** The key from which the keys of this installation's hashes are derived. */
  readonly installationKey: Buffer;
}

/** The features of the service, as far as operators see and change them. */
export interface OperatorServices {
  readonly core: OperatorCore;
  readonly tenants: TenantDirectory;
  readonly identity: Identity;
  readonly usage: Usage;
  readonly sessions: VoiceSessions;
  readonly calls: Pick<Calls, 'ofSession' | 'runningResponses'> & { readonly whispers: Whispers };
}
