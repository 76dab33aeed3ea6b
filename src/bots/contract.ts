import type { Eventually } from '../kernel/eventually.ts';

/** docs/contract.md, section 4.2. */
export interface Verdict {
  readonly isBot: boolean;
  /** A bot that proved who it is; such bots may pass. */
  readonly isVerifiedBot: boolean;
  /** 0..1: how sure the provider is. */
  readonly confidence: number;
  readonly provider: 'none' | 'heuristic' | 'http';
  /** True: the provider that should have answered was away, and another stood in. */
  readonly degraded?: boolean;
  /** For the log: what decided. */
  readonly reason?: string;
}

/** What a verdict is made from. */
export interface Evidence {
  readonly ip: string;
  /** Names in lower case; among them what the client's bot-detection library passes along. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly path: string;
  readonly method: string;
  readonly requestId: string;
}

/** docs/contract.md, section 4.2: a bot is blocked unless it is verified; confidence does not enter. */
export function isBlocked(verdict: Pick<Verdict, 'isBot' | 'isVerifiedBot'>): boolean {
  return verdict.isBot && !verdict.isVerifiedBot;
}

/** Says of a create whether a bot sent it; what follows from that is `isBlocked`. */
export interface BotDetector {
  /** Never throws: a detector that is away answers with a degraded verdict. The caller logs every verdict. */
  assess(evidence: Evidence): Eventually<Verdict>;
}
