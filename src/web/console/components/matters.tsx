import type { ComponentChildren, VNode } from 'preact';
import type { Matter as Known } from '../data/attention.ts';
import { Warning } from './view-states.tsx';

interface Props {
  readonly degree: Known['degree'];
  /** Where more about it is. If set, the whole matter is a link. */
  readonly href?: string;
  readonly children: ComponentChildren;
}

interface MattersProps<T> {
  readonly label: string;
  readonly of: readonly T[];
  readonly show: (one: T) => VNode;
  /** In words that follow how many more there are. */
  readonly more: (count: number) => string;
}

/** How many matters of a kind are shown. */
const MAX_SHOWN = 5;

/** The first matters of a kind, above what they are about. */
export function Matters<T>({ label, of, show, more }: MattersProps<T>) {
  if (of.length === 0) return null;
  const left = of.length - MAX_SHOWN;
  return (
    <section class="matters" aria-label={label}>
      {of.slice(0, MAX_SHOWN).map(show)}
      {left > 0 && (
        <Matter degree="watch">
          {left} more {more(left)}
        </Matter>
      )}
    </section>
  );
}

/** Something that must be seen first, by icon, colour and words. */
export function Matter({ degree, href, children }: Props) {
  const style = `matter matter-${degree}`;
  const shown = (
    <>
      <Warning />
      <span class="break">{children}</span>
    </>
  );
  return href === undefined ? (
    <p class={style}>{shown}</p>
  ) : (
    <a class={style} href={href}>
      {shown}
    </a>
  );
}
