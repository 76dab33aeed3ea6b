import type { OperatorChallenge, OperatorLogin } from '../../../protocol/operator/login.ts';
import { loginEndWords } from '../words/logins.ts';
import { Standing } from './standing.tsx';

/** How a login stands. */
export function LoginMark({ state, reason }: Pick<OperatorLogin, 'state' | 'reason'>) {
  if (state === 'active') return <Standing kind="on">active</Standing>;
  return (
    <Standing kind={reason === 'revoked' ? 'bad' : 'off'}>{reason === null ? 'over' : loginEndWords(reason)}</Standing>
  );
}

/** How a code stands. */
export function ChallengeMark({ state }: Pick<OperatorChallenge, 'state'>) {
  const kinds = { pending: 'waiting', verified: 'on', locked: 'bad', expired: 'off', superseded: 'off' } as const;
  return <Standing kind={kinds[state]}>{state}</Standing>;
}

/** Both lists belong together. */
export function LoginTabs({ here }: { readonly here: 'logins' | 'challenges' }) {
  return (
    <nav class="tabs" aria-label="Logins and codes">
      <a href="/console/logins" aria-current={here === 'logins' ? 'page' : undefined}>
        Logins
      </a>
      <a href="/console/challenges" aria-current={here === 'challenges' ? 'page' : undefined}>
        Codes
      </a>
    </nav>
  );
}
