import type { ComponentChildren } from 'preact';
import type { Matter as Known } from '../data/attention.ts';
import { Warning } from './view-states.tsx';

interface Props {
  readonly degree: Known['degree'];
  /** Where more about it is. If set, the whole matter is a link. */
  readonly href?: string;
  readonly children: ComponentChildren;
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
