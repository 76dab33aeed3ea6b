import type { Config } from '../../../config/config.ts';
import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { Login } from '../../auth/login-cache.ts';
import type { Identity } from '../../auth/identity.ts';
import type { BotDetector, SuspectList } from '../../bots/contract.ts';
import type { AdoptRequest } from '../../calls/contract.ts';
import type { Clock } from '../../kernel/time.ts';
import type { Eventually } from '../../kernel/async.ts';
import type { Sealer } from '../../kernel/seal.ts';
import type { CreateReply, CreateRequest } from '../../protocol/create.ts';
import type { Why } from '../../protocol/errors/error-row.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import type { CeilingsHolder } from '../../quota/ceilings.ts';
import type { Usage } from '../../quota/usage.ts';
import type { CallTicket } from '../../stores/call-tickets/contract.ts';
import type { DurableStores, LiveStores } from '../../stores/contract.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import type { Tenant, WidgetKey } from '../../stores/tenants/contract.ts';
import type { WindowCount } from '../../stores/windows/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import type { CreateTrace } from '../../telemetry/traces/create-trace.ts';
import type { Traces } from '../../telemetry/traces/traces.ts';
import type { CallModeOf, SessionConfig } from '../../tenants/agents.ts';
import type { TenantDirectory } from '../../tenants/directory.ts';
import type { Minted, UpstreamProvider } from '../../upstream/contract.ts';
import type { RoomWish } from '../../upstream/room-contract.ts';
import type { VoiceSessions } from '../sessions.ts';

export interface CreateDeps {
  readonly config: Pick<
    Config,
    'calls' | 'heartbeatIntervalSec' | 'requireAuthForSession' | 'requireOriginForWidgets' | 'upstream'
  >;
  readonly clock: Clock;
  /** Waits between two looks at a create that another request is running. */
  readonly pause?: ((ms: number) => Promise<unknown>) | undefined;
  readonly stores: Pick<DurableStores, 'counters' | 'keySlots' | 'idempotentReplies' | 'sessionSetups'>;
  readonly live: Pick<LiveStores, 'bus' | 'slots'>;
  readonly provider: UpstreamProvider;
  /** Seals what only the servers of tools may read; undefined where no key is configured. */
  readonly contexts: Pick<Sealer, 'seal'> | undefined;
  readonly bots: BotDetector;
  readonly suspects: SuspectList;
  readonly events: Events;
  /** Undefined where sessions are not traced. */
  readonly traces?: Pick<Traces, 'begin'> | undefined;
  /** The service's own address, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly tenants: TenantDirectory;
  readonly identity: Pick<Identity, 'subjects'>;
  readonly usage: Pick<Usage, 'limitsOf' | 'sharedOf' | 'refuseIfSpent'>;
  readonly sessions: VoiceSessions;
  readonly calls: {
    readonly modeOf: CallModeOf;
    readonly tickets: {
      make(
        sessionId: string,
        atMs: number,
      ): {
        readonly ticket: Pick<Minted, 'value' | 'expiresAtSec'>;
        readonly kept: CallTicket;
      };
    };
    readonly resumeTokens: {
      find(value: string, atMs: number): Eventually<string | undefined>;
      worksUntilMs(session: VoiceRecord): number;
      spend(value: string, ticket: CallTicket, atMs: number): Promise<boolean>;
      giveBack(value: string, ticket: CallTicket, untilMs: number): Promise<void>;
    };
    /** Holds the calls that pages open themselves; undefined where only the pages learn their calls' names. */
    readonly ofPages?: () => { adopt(request: AdoptRequest): Promise<void> } | undefined;
    /** All calls that the session opened, including those that are over. */
    ofSession(sessionId: string): Promise<readonly unknown[]>;
    /** The session waits for the call of a page that continues it. */
    awaitNext(sessionId: string, at: number): Promise<void>;
  };
}

/** The request as it came. */
export interface CreateInput {
  readonly body: CreateRequest;
  readonly login: Login | undefined;
  /** Whether a service token came with the request. */
  readonly isService: boolean;
  /** Whether a back end answers for the visitor: its own headers say nothing about them, and the bot check is skipped. */
  readonly vouches?: boolean;
  /** Who joins the session's room, as its creator says. */
  readonly visitor?: Omit<RoomWish, 'agentName'> | undefined;
  readonly origin: string | undefined;
  readonly ip: string;
  /** The key under which the address is counted. */
  readonly addressScope: string;
  /** The rate-limit window of the address, including this request. */
  readonly window?: Pick<WindowCount, 'limit' | 'remaining'> | undefined;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
    /** The bytes of the body. */
    readonly body: Buffer | string;
    readonly requestId: string;
    readonly atMs: number;
    /** Aborts when the client goes away. */
    signal(): AbortSignal;
  };
}

/** Who a session is opened for, and the limits that hold for them. */
export interface AdmittedCaller extends CeilingsHolder {
  readonly caller: VoiceRecord['caller'];
  readonly tenantId: string;
  readonly named: boolean;
  readonly loginId: string | null;
}

/** What the steps of a create have found so far. The type of a step's parameter names what earlier steps must have found. */
export interface CreateContext {
  readonly input: CreateInput;
  /** Only for a create that opens a session, where sessions are traced. */
  readonly trace?: CreateTrace | undefined;
  tenant?: Tenant;
  /** Null for a console caller. */
  key?: WidgetKey | null;
  caller?: AdmittedCaller;
  config?: SessionConfig;
  /** Whether the request came with the solution of a challenge. */
  hasSolved?: boolean;
  /** Slots that the subject holds, where that can make a caller suspect; counted in advance, so that nobody waits for this alone. */
  slotsHeld?: Eventually<number>;
  opening?: Opening;
  /** The caller has used its try of this minute, whatever happens: the count is not given back. */
  keepsCount?: boolean;
  minted?: Minted;
  /** Only for a brokered session: it is kept with the record. */
  ticket?: CallTicket;
  /** The setup that is kept with the session. */
  setup?: SessionSetup | undefined;
  record?: VoiceRecord;
  /** The setup of the session that another page continues. */
  resumed?: SessionSetup;
  /** The end reason if the record has to be undone. */
  endReason?: Extract<EndReason, 'create_failed' | 'quota_exceeded' | 'key_revoked' | 'closed_by_operator'>;
  claim?: ReplyClaim;
  reply?: CreateReply;
}

/** A session that is being opened. */
interface Opening {
  readonly sessionId: string;
  readonly atMs: number;
  /** When its slots' leases lapse, in case this process dies before the session is registered. */
  readonly leaseUntilMs: number;
  /** DAILY_QUOTA_EXCEEDED when a ceiling of the day is reached. */
  readonly quotaRefusal: Promise<Refusal | undefined>;
}

/** The right to make the only reply for an Idempotency-Key. */
export interface ReplyClaim {
  /** The Idempotency-Key itself. */
  readonly key: string;
  readonly keyHash: string;
  readonly token: string;
}

type With<K extends keyof CreateContext> = CreateContext & Required<Pick<CreateContext, K>>;

export type TenantFound = With<'tenant' | 'key'>;
export type CallerFound = TenantFound & With<'caller'>;
export type ConfigFound = CallerFound & With<'config'>;
export type OpeningBegun = ConfigFound & With<'opening'>;
export type SecretIssued = OpeningBegun & With<'minted'>;
export type SessionRegistered = SecretIssued & With<'record'>;
/** An existing session that a page continues. */
export type SessionFound = CallerFound & With<'record' | 'resumed'>;

export type CreateStep<T = unknown> = Step<CreateContext, CreateDeps, T>;

/** What the steps that count know and use of a create: nothing of its request, so that past creates can be replayed with them. */
export type CountingContext = Pick<CreateContext, 'caller' | 'opening' | 'keepsCount'>;

export type ReadyToCount = CountingContext & Required<Pick<CountingContext, 'caller' | 'opening'>>;

export interface CountingDeps {
  readonly stores: {
    readonly counters: Pick<DurableStores['counters'], 'take' | 'giveBack'>;
    readonly keySlots: Pick<DurableStores['keySlots'], 'take' | 'free'>;
  };
  readonly live: { readonly slots: Pick<LiveStores['slots'], 'take' | 'free'> };
}

export type CountingStep<T = unknown> = Step<CountingContext, CountingDeps, T>;

/** Whose refusal it is, as operators see it. */
export function whoseOf({ tenantId, keyId, subject }: Pick<AdmittedCaller, 'tenantId' | 'keyId' | 'subject'>): Why {
  return { tenantId, keyId, subject };
}

/** Returned by a step that has found the reply: the later steps are skipped, and nothing is given back. */
export const ANSWERED = Symbol('answered');

/** A refusal; ANSWERED; what the step took; or undefined where it let the request pass and took nothing. */
export type Outcome<T> = Refusal | typeof ANSWERED | T | undefined;

/** One rule of a request. It may take something, and says how to give that back when a later step refuses the request. */
export interface Step<C, D, T = unknown> {
  readonly name: string;
  /** When it throws, nothing counts as taken: what a store took without being able to say so lapses there by itself. */
  take(context: C, deps: D): Eventually<Outcome<T>>;
  undo?(taken: T, context: C, deps: D): Eventually<unknown>;
}
