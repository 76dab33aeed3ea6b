import { matchesEmailList } from '../protocol/email.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Call } from './route.ts';

export interface OperatorRule {
  /** OPERATOR_EMAILS. */
  readonly operatorEmails: readonly string[];
}

/** Who operates: an operator's cookie or a service token (docs/contract.md, section 8); a refusal for everybody else. */
export function operatorOf(
  call: Pick<Call, 'login' | 'isService'>,
  { operatorEmails }: OperatorRule,
): Refusal | string {
  if (call.isService) return 'service';
  if (call.login === undefined) return new Refusal('AUTH_REQUIRED', 'Log in as an operator, or send a service token.');
  return matchesEmailList(call.login.email, operatorEmails)
    ? call.login.email
    : new Refusal('FORBIDDEN', 'This login is not an operator (OPERATOR_EMAILS).');
}
