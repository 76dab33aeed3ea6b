import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { copy } from '../data/dialogs.ts';
import { useKeys } from './shortcuts.ts';

interface Props {
  readonly label: ComponentChildren;
  readonly name: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

const EDGE = 8;

/** A button and the menu that it opens below. Choosing something closes the menu. */
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

/** A command that anybody with a token can run: it has no cookie, and the ref instead of the id. */
function curlOf(path: string): string {
  return `curl -H "Authorization: Bearer $SWITCHBOARD_TOKEN" '${location.origin}${path}'`;
}

function copyLink(): void {
  void copy(location.href, 'Link');
}

interface CopyMenuProps {
  /** The API path of what is shown. */
  readonly path: string;
  /** The text of the API's answer. */
  readonly text: string;
}

/** Copies what the page shows, through the menu or its shortcuts. */
export function CopyMenu({ path, text }: CopyMenuProps) {
  const copyCurl = (): void => void copy(curlOf(path), 'curl');
  useKeys({ y: copyLink, Y: copyCurl });
  return (
    <Menu name="Copy" label="Copy ▾">
      <div class="menu-list">
        <button type="button" data-closes onClick={copyLink}>
          Link <kbd>y</kbd>
        </button>
        <button type="button" data-closes onClick={() => void copy(text, 'JSON')}>
          JSON
        </button>
        <button type="button" data-closes onClick={copyCurl}>
          curl <kbd>Y</kbd>
        </button>
      </div>
    </Menu>
  );
}
