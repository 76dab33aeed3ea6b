import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Moment } from './times.tsx';

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

interface SectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A card that screen readers find by its title. */
export function Section({ title, children }: SectionProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** The id of what a page shows, below its heading. */
export function Ref({ children }: { readonly children: string }) {
  return (
    <p class="ref">
      <code class="break">{children}</code>
    </p>
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

/** A fact that is an instant. */
export function TimeFact({
  name,
  at,
  hasMs,
}: {
  readonly name: string;
  readonly at: string | null;
  readonly hasMs?: boolean;
}) {
  return <Fact name={name}>{at === null ? null : <Moment at={at} hasMs={hasMs} />}</Fact>;
}

/** A fact that is an id, with a link to more about it. */
export function IdFact({
  name,
  id,
  href,
}: {
  readonly name: string;
  readonly id: string | null;
  readonly href?: string;
}) {
  const code = <code class="break">{id}</code>;
  return <Fact name={name}>{id === null ? null : href === undefined ? code : <a href={href}>{code}</a>}</Fact>;
}
