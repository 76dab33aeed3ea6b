/** Console logins, and the codes that open them. */
import type { operatorChallengeDetail, operatorLoginDetail } from '../../../protocol/operator/login.ts';
import type { ownLogins } from '../../../protocol/login.ts';
import { post, type Failure } from './api.ts';
import type { Output } from './shapes.ts';

export type OwnLogins = Output<typeof ownLogins>;
export type LoginDetail = Output<typeof operatorLoginDetail>;
export type ChallengeDetail = Output<typeof operatorChallengeDetail>;

/** Ends one of the operator's own logins. @returns why it was refused, or undefined */
export async function revokeOwnLogin(id: string): Promise<Failure | undefined> {
  const answer = await post(`/api/auth/logins/${encodeURIComponent(id)}/revoke`, {});
  return answer.ok ? undefined : answer.failure;
}

/** Lets an address log in from new browsers again. @returns why it was refused, or undefined */
export async function liftAddress(email: string, reason: string): Promise<Failure | undefined> {
  const answer = await post('/api/operator/addresses/lift', { email, reason });
  return answer.ok ? undefined : answer.failure;
}

/** @returns why it was refused, or undefined */
export async function revokeLogin(id: string, reason: string): Promise<Failure | undefined> {
  const answer = await post(`/api/operator/logins/${encodeURIComponent(id)}/revoke`, { reason });
  return answer.ok ? undefined : answer.failure;
}
