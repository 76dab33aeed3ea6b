import type { ComponentChildren, VNode } from 'preact';
import type { OperatorKey } from '../../../protocol/operator/key.ts';
import type { OperatorChallenge, OperatorLogin } from '../../../protocol/operator/login.ts';
import type { Call, Session, State, Dependency } from '../data/shapes.ts';
import { agentName, shortName, latencyText } from '../labels/format.ts';
import { STATE_NAMES } from '../labels/sessions.ts';
import { Shape } from './icons.tsx';
import { Warning } from './view-states.tsx';

/** A session's state by shape, word and colour. */
export function StateMark({ state }: { readonly state: State }) {
  return (
    <span class={`state state-${state}`} key={state}>
      <Shape>{STATE_SHAPES[state]}</Shape>
      <span>{state}</span>
    </span>
  );
}

/** A session in a list of those that an action is about. */
export function SessionMark({ of }: { readonly of: Pick<Session, 'state' | 'tenantId' | 'agentId' | 'emailHash'> }) {
  return (
    <>
      <StateMark state={of.state} /> {agentName(of)} <code>{shortName(of.emailHash)}</code>
    </>
  );
}

/** A state of any machine. Only states of sessions have shapes. */
export function StateOrWord({ name }: { readonly name: string }) {
  return STATE_NAMES.includes(name as State) ? <StateMark state={name as State} /> : <span>{name}</span>;
}

/** The shape of each state, 12 by 12. It says the same as the colour, for people who cannot see that. */
export const STATE_SHAPES: Readonly<Record<State, VNode>> = {
  engaged: <circle cx="6" cy="6" r="5" />,
  idle: (
    <>
      <circle class="hollow" cx="6" cy="6" r="4.25" />
      <path d="M6 1a5 5 0 0 0 0 10z" />
    </>
  ),
  stale: <circle class="hollow" cx="6" cy="6" r="4.25" />,
  ended: <rect x="1.5" y="1.5" width="9" height="9" rx="1" />,
};

type Kind = 'on' | 'waiting' | 'off' | 'bad';

const shapes: Readonly<Record<Kind, VNode>> = {
  on: STATE_SHAPES.engaged,
  waiting: STATE_SHAPES.idle,
  off: STATE_SHAPES.ended,
  bad: <path d="M6 .5 12 11.5H0z" />,
};

/** The state of something other than a session, by shape, word and colour. */
export function Standing({ kind, children }: { readonly kind: Kind; readonly children: ComponentChildren }) {
  return (
    <span class={`state standing-${kind}`}>
      <Shape>{shapes[kind]}</Shape>
      {children}
    </span>
  );
}

/** Whether a key opens sessions. */
export function KeyStanding({ revokedAt, pausedAt }: Pick<OperatorKey, 'revokedAt' | 'pausedAt'>) {
  if (revokedAt !== null) return <Standing kind="off">revoked</Standing>;
  return pausedAt === null ? <Standing kind="on">in use</Standing> : <Standing kind="waiting">paused</Standing>;
}

/** The state of a call at the provider. */
export function CallMark({ state }: Pick<Call, 'state'>) {
  const kinds = { creating: 'waiting', open: 'on', closing: 'waiting', closed: 'off' } as const;
  return <Standing kind={kinds[state]}>{state}</Standing>;
}

/** The state of a login. */
export function LoginMark({ state, reason }: Pick<OperatorLogin, 'state' | 'reason'>) {
  if (state === 'active') return <Standing kind="on">active</Standing>;
  return (
    <Standing kind={reason === 'revoked' ? 'bad' : 'off'}>{reason === null ? 'over' : loginEndWords(reason)}</Standing>
  );
}

/** The state of a login code. */
export function ChallengeMark({ state }: Pick<OperatorChallenge, 'state'>) {
  const kinds = { pending: 'waiting', verified: 'on', locked: 'bad', expired: 'off', superseded: 'off' } as const;
  return <Standing kind={kinds[state]}>{state}</Standing>;
}

/** How console logins end, in few words. A reason that this version does not know is shown by its name. */
const ENDS: Readonly<Record<string, string>> = {
  logout: 'logged out',
  replaced: 'replaced by a new login',
  violation: 'ended for a violation',
};

export function loginEndWords(reason: string): string {
  return ENDS[reason] ?? reason;
}

/** A dependency of a process: whether it answers, by icon, word and colour, and how fast. */
export function DependencyMark({ dependency }: { readonly dependency: Dependency }) {
  const { name, state, latencyMs } = dependency;
  return (
    <span class={`dependency dependency-${state}`} key={`${name} ${state}`}>
      {state === 'away' && <Warning />}
      {name} {state === 'away' ? 'away' : latencyMs === null ? 'ok' : latencyText(latencyMs)}
    </span>
  );
}

export function Dependencies({ dependencies }: { readonly dependencies: readonly Dependency[] }) {
  return (
    <ul class="dependencies">
      {dependencies.map((dependency) => (
        <li key={dependency.name}>
          <DependencyMark dependency={dependency} />
        </li>
      ))}
    </ul>
  );
}
