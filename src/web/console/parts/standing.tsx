import type { ComponentChildren, VNode } from 'preact';

type Kind = 'on' | 'waiting' | 'off' | 'bad';

const shapes: Readonly<Record<Kind, VNode>> = {
  on: <circle cx="6" cy="6" r="5" />,
  waiting: (
    <>
      <circle class="hollow" cx="6" cy="6" r="4.25" />
      <path d="M6 1a5 5 0 0 0 0 10z" />
    </>
  ),
  off: <rect x="1.5" y="1.5" width="9" height="9" rx="1" />,
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
