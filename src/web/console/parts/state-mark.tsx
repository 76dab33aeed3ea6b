import type { VNode } from 'preact';
import type { State } from '../data/shapes.ts';

const shapes: Readonly<Record<State, VNode>> = {
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

/** A state by its shape, its word and its colour. */
export function StateMark({ state, isShort = false }: { readonly state: State; readonly isShort?: boolean }) {
  return (
    <span class={`state state-${state}`} key={state}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {shapes[state]}
      </svg>
      <span class={isShort ? 'wide-only' : ''}>{state}</span>
    </span>
  );
}
