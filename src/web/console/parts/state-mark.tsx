import type { State } from '../data/shapes.ts';
import { STATE_NAMES } from '../words/states.ts';
import { STATE_SHAPES } from './state-shape.tsx';

/** A state by its shape, its word and its colour. */
export function StateMark({ state, isShort = false }: { readonly state: State; readonly isShort?: boolean }) {
  return (
    <span class={`state state-${state}`} key={state}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {STATE_SHAPES[state]}
      </svg>
      <span class={isShort ? 'wide-only' : ''}>{state}</span>
    </span>
  );
}

/** A state of any machine: those of sessions have shapes. */
export function StateOrWord({ name }: { readonly name: string }) {
  return STATE_NAMES.includes(name as State) ? <StateMark state={name as State} /> : <span>{name}</span>;
}
