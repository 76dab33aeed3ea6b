import type { Dependency } from '../data/shapes.ts';
import { latencyText } from '../labels/format.ts';
import { Warning } from './view-states.tsx';

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
