import type { Eventually } from '../kernel/async.ts';
import type { AltchaChallenge, Challenge, ChallengeProvider } from '../protocol/challenge.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import type { WidgetKey } from '../stores/tenants/contract.ts';

/** The outcome of a challenge: it is due, was solved or not, or could not be verified, perhaps because our settings are wrong. */
export type ChallengeOutcome = 'due' | 'solved' | 'wrong' | 'away' | 'misconfigured';

/** docs/contract.md, section 4.2. */
export interface Verdict {
  readonly isBot: boolean;
  /** A bot that proved its identity; such bots may pass. */
  readonly isVerifiedBot: boolean;
  /** 0..1: how sure the provider is. */
  readonly confidence: number;
  readonly provider: 'none' | 'heuristic' | 'http' | ChallengeProvider;
  /** True if the provider that should have answered was away, and another stood in. */
  readonly degraded?: boolean;
  /** For the log: what the verdict is based on. */
  readonly reason?: string;
  /** Undefined where no challenge was due. */
  readonly outcome?: ChallengeOutcome;
  /** With a negative verdict: what the caller may solve for a better one. */
  readonly challenge?: Challenge;
}

/** The widget key for whose page a challenge is issued. */
export type ChallengedKey = Pick<WidgetKey, 'id' | 'tenantId' | 'key' | 'origin' | 'bots'>;

/** What a challenge is issued for and bound to. */
export interface WidgetEvidence {
  readonly key: ChallengedKey;
  /** The name under which the address is counted. */
  readonly addressScope: string;
  /** Identifies the create. It is the same when a create is repeated with its Idempotency-Key, so that its token counts again. */
  readonly createId: string;
  readonly atMs: number;
  /** What makes the caller suspect besides its headers, in our words. Not called where every caller is challenged anyway. */
  readonly suspicions: () => Eventually<readonly string[]>;
}

/** What a verdict is based on. */
export interface Evidence {
  readonly ip: string;
  /** Names in lower case. Includes headers that the client's bot-detection library adds. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly path: string;
  readonly method: string;
  readonly requestId: string;
  /** Undefined for a console caller, who has proved an address by logging in and is not challenged. */
  readonly widget?: WidgetEvidence | undefined;
}

/** The parts of a request that may make its caller suspect. */
export interface CreateAttempt {
  readonly key: ChallengedKey;
  /** Undefined for a back end, whose address says nothing about its visitors. */
  readonly address: string | undefined;
  /** The window of the address, including this request. */
  readonly window: Pick<WindowCount, 'limit' | 'remaining'> | undefined;
}

/** How long a session has lived. */
export interface EndedSession {
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
}

/** What makes callers suspect besides their headers. */
export interface SuspectList {
  /** Each reason in our words. Answers from memory, without waiting. */
  reasonsFor(asking: CreateAttempt, atMs: number): readonly string[];
  /** Notes that a create from the address was refused, or that the address left a session at once. */
  noteTrouble(address: string, atMs: number): void;
  /** Notes that the address ended this session, if it did so at once. */
  noteEnd(session: EndedSession, address: string, atMs: number): void;
}

/** A request for a proof of work. */
export interface WorkQuestion extends Pick<Evidence, 'headers'> {
  readonly widget: Pick<WidgetEvidence, 'key' | 'atMs'> & { readonly suspicions: readonly string[] };
}

/** How a widget key's callers are challenged. */
export interface ChallengeSettings {
  readonly provider: ChallengeProvider;
  readonly siteKey: string | undefined;
  /** Undefined where there is no secret of that name. */
  readonly secret: () => Promise<string | undefined>;
  readonly minScore: number;
  /** Where tokens are verified, instead of the provider's own address. */
  readonly verifyUrl: string | undefined;
  readonly challenge: 'suspect' | 'always';
  /** Requests to the provider are counted together for each owner. */
  readonly owner: string;
}

export interface ChallengeQuestion extends WidgetEvidence {
  readonly token: string;
  readonly ip: string;
  readonly settings: ChallengeSettings;
}

/** The result for a token. `reason` contains nothing that the caller sent. */
export type ChallengeResult =
  | { readonly outcome: 'solved'; readonly confidence: number }
  | { readonly outcome: 'wrong'; readonly reason: string; readonly confidence?: number }
  | { readonly outcome: 'away' | 'misconfigured'; readonly reason: string };

export interface ChallengeChecker {
  /** A name for the token that is the same however it is written, to detect reuse; undefined for what is not a token. */
  once(token: string): string | undefined;
  /** Checks whether a token was recently solved for this key. @throws Unavailable when secrets cannot be read */
  check(question: ChallengeQuestion): Eventually<ChallengeResult>;
}

/** Judges whether a bot sent a create; what follows from that is decided in `sessions/create/admit-caller.ts`. */
export interface BotDetector {
  /**
   * A detector that is away answers with a degraded verdict. The caller logs every verdict.
   * @throws Unavailable only when the database is away, which knows the used tokens
   */
  assess(evidence: Evidence): Eventually<Verdict>;
  /** A proof of work for a page of the key; undefined where the key uses another provider's challenges, or none. */
  work?(question: WorkQuestion): AltchaChallenge | undefined;
  /** Whether only suspect callers of the key are challenged. */
  weighs?(key: ChallengedKey): boolean;
}
