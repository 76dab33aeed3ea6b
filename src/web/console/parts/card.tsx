import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** At the right of the title: a link to more, or a choice. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, aside, children }: Props) {
  return (
    <section class="card">
      <div class="card-title">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** A name and its value; nothing if the value is unknown. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === null || children === undefined || children === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
