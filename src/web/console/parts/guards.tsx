import type { OperatorEvent } from '../data/shapes.ts';
import { guardWords } from '../words/events.ts';

/** The guards that were asked, in their order: which passed, and which refused. */
export function Guards({ guards }: Pick<OperatorEvent, 'guards'>) {
  if (guards.length === 0) return null;
  return (
    <ul class="guards">
      {guards.map(({ name, passed }, index) => (
        <li key={`${index} ${name}`} class={passed ? 'passed' : 'failed'} title={name}>
          {guardWords(name)} <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
          <span class="hidden">{passed ? 'yes' : 'no'}</span>
        </li>
      ))}
    </ul>
  );
}
