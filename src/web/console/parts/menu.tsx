import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface Props {
  readonly label: ComponentChildren;
  readonly name: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

const EDGE = 8;

/** A button, and what opens below it. Choosing something in it closes it. */
export function Menu({ label, name, class: style = '', children }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const place = (event: Event): void => {
    if ((event as ToggleEvent).newState !== 'open' || button.current === null || panel.current === null) return;
    const { bottom, right } = button.current.getBoundingClientRect();
    const { style: place } = panel.current;
    place.top = `${bottom + EDGE / 2}px`;
    place.right = `${Math.max(EDGE, document.documentElement.clientWidth - right)}px`;
  };
  return (
    <>
      <button ref={button} type="button" class={style} popovertarget={id} aria-label={name}>
        {label}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        class="menu"
        role="group"
        aria-label={name}
        onBeforeToggle={place}
        onClick={(event) => {
          if ((event.target as Element).closest('[data-closes]') !== null) panel.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}
