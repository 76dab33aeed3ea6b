import type { OperatorEvent } from '../data/shapes.ts';
import { useWords } from '../data/machines.ts';

/** The guards that were asked, in their order: which passed, and which refused. */
export function Guards({ guards, machine }: Pick<OperatorEvent, 'guards'> & { readonly machine: string }) {
  const wordOf = useWords(machine);
  if (guards.length === 0) return null;
  return (
    <ul class="guards">
      {guards.map(({ name, passed }, index) => (
        <li key={`${index} ${name}`} class={passed ? 'passed' : 'failed'} title={name}>
          {wordOf(name)} <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
          <span class="hidden">{passed ? 'yes' : 'no'}</span>
        </li>
      ))}
    </ul>
  );
}
