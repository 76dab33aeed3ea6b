import type { Eventually } from '../kernel/eventually.ts';
import type { AltchaChallenge, Challenge, ChallengeProvider } from '../protocol/challenge.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import type { WidgetKey } from '../stores/tenants/contract.ts';

/** What became of a challenge: one is due, it was solved or not, or nobody could say so, which may be the fault of our settings. */
export type ChallengeOutcome = 'due' | 'solved' | 'wrong' | 'away' | 'misconfigured';

/** docs/contract.md, section 4.2. */
export interface Verdict {
  readonly isBot: boolean;
  /** A bot that proved who it is; such bots may pass. */
  readonly isVerifiedBot: boolean;
  /** 0..1: how sure the provider is. */
  readonly confidence: number;
  readonly provider: 'none' | 'heuristic' | 'http' | ChallengeProvider;
  /** True: the provider that should have answered was away, and another stood in. */
  readonly degraded?: boolean;
  /** For the log: what decided. */
  readonly reason?: string;
  /** Undefined where no challenge was due. */
  readonly outcome?: ChallengeOutcome;
  /** Of a negative verdict: what the caller may solve for a better one. */
  readonly challenge?: Challenge;
}

/** The widget key for whose page a challenge is. */
export type ChallengedKey = Pick<WidgetKey, 'id' | 'tenantId' | 'key' | 'origin' | 'bots'>;

/** What a challenge is asked for, and what it is bound to. */
export interface WidgetEvidence {
  readonly key: ChallengedKey;
  /** Under what the address is counted. */
  readonly addressScope: string;
  /** Names the create: the same when it is repeated under its Idempotency-Key, so that its token counts again. */
  readonly createId: string;
  readonly atMs: number;
  /** Beside its headers, what makes the caller suspect, in words of ours. Not asked where nobody need be suspect to be challenged. */
  readonly suspicions: () => Eventually<readonly string[]>;
}

/** What a verdict is made from. */
export interface Evidence {
  readonly ip: string;
  /** Names in lower case; among them what the client's bot-detection library passes along. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly path: string;
  readonly method: string;
  readonly requestId: string;
  /** Undefined for a console caller: a login has proved an address, and is not challenged. */
  readonly widget?: WidgetEvidence | undefined;
}

/** Who asks, as far as it makes somebody suspect. */
export interface Asking {
  readonly key: ChallengedKey;
  /** Undefined for a back end, whose address says nothing of its visitors. */
  readonly address: string | undefined;
  /** Of the address, with this request counted. */
  readonly window: Pick<WindowCount, 'limit' | 'remaining'> | undefined;
}

/** What makes callers suspect beside their headers. */
export interface SuspectList {
  /** Words of ours for each thing that does. It is known in this process: nobody waits for it. */
  reasonsFor(asking: Asking, atMs: number): readonly string[];
  /** The address had a create refused, or has left a session at once. */
  noteTrouble(address: string, atMs: number): void;
}

/** docs/contract.md, section 4.2: a bot is blocked unless it is verified; confidence does not enter. */
export function isBlocked(verdict: Pick<Verdict, 'isBot' | 'isVerifiedBot'>): boolean {
  return verdict.isBot && !verdict.isVerifiedBot;
}

/** Whoever asks for a proof of work to do. */
export interface WorkQuestion extends Pick<Evidence, 'headers'> {
  readonly widget: Pick<WidgetEvidence, 'key' | 'atMs'> & { readonly suspicions: readonly string[] };
}

/** Says of a create whether a bot sent it; what follows from that is `isBlocked`. */
export interface BotDetector {
  /** Never throws: a detector that is away answers with a degraded verdict. The caller logs every verdict. */
  assess(evidence: Evidence): Eventually<Verdict>;
  /** A proof of work for a page of the key; undefined where its challenges are those of others, or there are none. */
  work?(question: WorkQuestion): AltchaChallenge | undefined;
  /** Whether callers of the key are challenged who are suspect, and no others. */
  weighs?(key: ChallengedKey): boolean;
}
