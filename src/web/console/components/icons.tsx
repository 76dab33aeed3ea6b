import type { ComponentChildren } from 'preact';

interface SvgProps {
  /** Drawn 16 by 16 in an icon, 12 by 12 in a shape. */
  readonly children: ComponentChildren;
}

/** A line drawing. It adds nothing to the words beside it, so screen readers skip it. */
export function Icon({ class: style = 'icon', children }: SvgProps & { readonly class?: string }) {
  return (
    <svg class={style} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {children}
    </svg>
  );
}

/** A small drawing within a line of text. It adds nothing to the text, so screen readers skip it. */
export function Shape({ children }: SvgProps) {
  return (
    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      {children}
    </svg>
  );
}

/** The logo: three jacks, joined by cords. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path d="M5 9c0 5 7 2 7 7M19 9c0 5-7 2-7 7" />
      <circle cx="5" cy="6" r="3" />
      <circle cx="19" cy="6" r="3" />
      <circle cx="12" cy="19" r="3" />
    </svg>
  );
}
