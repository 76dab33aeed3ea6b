import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** At the right of the title: where more of it is, or what is chosen. */
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

/** A name and what it is; what is unknown is left out. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === null || children === undefined || children === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
