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
