/** Console logins, and the codes that open them. */
import type { operatorChallengeDetail, operatorLoginDetail } from '../../../protocol/operator/login.ts';
import type { ownLogins } from '../../../protocol/login.ts';
import { post, type Answer } from './api.ts';
import type { Output } from './shapes.ts';

export type OwnLogins = Output<typeof ownLogins>;
export type LoginDetail = Output<typeof operatorLoginDetail>;
export type ChallengeDetail = Output<typeof operatorChallengeDetail>;

/** Ends one of the operator's own logins. */
export function revokeOwnLogin(id: string): Promise<Answer<unknown>> {
  return post(`/api/auth/logins/${encodeURIComponent(id)}/revoke`, {});
}

/** Lets an address log in from new browsers again. */
export function liftAddress(email: string, reason: string): Promise<Answer<unknown>> {
  return post('/api/operator/addresses/lift', { email, reason });
}

export function revokeLogin(id: string, reason: string): Promise<Answer<unknown>> {
  return post(`/api/operator/logins/${encodeURIComponent(id)}/revoke`, { reason });
}
