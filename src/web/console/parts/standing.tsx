import type { ComponentChildren, VNode } from 'preact';
import type { OperatorKey } from '../../../protocol/operator/key.ts';
import { STATE_SHAPES } from './state-shape.tsx';

type Kind = 'on' | 'waiting' | 'off' | 'bad';

const shapes: Readonly<Record<Kind, VNode>> = {
  on: STATE_SHAPES.engaged,
  waiting: STATE_SHAPES.idle,
  off: STATE_SHAPES.ended,
  bad: <path d="M6 .5 12 11.5H0z" />,
};

/** How a thing that is no session stands: by a shape, a word and a colour. */
export function Standing({ kind, children }: { readonly kind: Kind; readonly children: ComponentChildren }) {
  return (
    <span class={`state standing-${kind}`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {shapes[kind]}
      </svg>
      {children}
    </span>
  );
}

/** Whether a key opens sessions. */
export function KeyStanding({ revokedAt, pausedAt }: Pick<OperatorKey, 'revokedAt' | 'pausedAt'>) {
  if (revokedAt !== null) return <Standing kind="off">revoked</Standing>;
  return pausedAt === null ? <Standing kind="on">in use</Standing> : <Standing kind="waiting">paused</Standing>;
}
