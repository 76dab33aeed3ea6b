import { classify } from '../../../machines/auth-session/selectors.ts';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import { classify as classifyChallenge } from '../../../machines/otp-challenge/selectors.ts';
import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import { iso } from '../../kernel/time.ts';
import type { OperatorChallenge, OperatorLogin } from '../../protocol/operator/login.ts';
import { actorSeenBy, type Operator } from '../roles.ts';

export function toOperatorLogin(login: AuthRecord, atMs: number, operator: Operator): OperatorLogin {
  const { id, email, createdAtMs, renewedAtMs, expiresAtMs, destroyedAtMs, destroyReason } = login;
  const state = classify(login, atMs);
  const isOver = state === 'destroyed';
  return {
    id,
    email: actorSeenBy(operator, email),
    createdAt: iso(createdAtMs),
    renewedAt: iso(renewedAtMs),
    expiresAt: iso(expiresAtMs),
    state,
    // A login that was not used again expires without being marked as destroyed.
    reason: destroyReason ?? (isOver ? 'expired' : null),
    endedAt: isOver ? iso(destroyedAtMs ?? expiresAtMs) : null,
  };
}

export function toOperatorChallenge(record: ChallengeRecord, atMs: number): OperatorChallenge {
  const { id, subject, issuedAtMs, expiresAtMs, attempts, maxAttempts } = record;
  return {
    id,
    subject,
    issuedAt: iso(issuedAtMs),
    expiresAt: iso(expiresAtMs),
    attempts,
    maxAttempts,
    state: classifyChallenge(record, atMs),
  };
}
