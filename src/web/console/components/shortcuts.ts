/** Keyboard shortcuts without a modifier. They are off in fields and while a dialog is open, and can be switched off altogether. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { singleKeys } from '../data/preferences.ts';

type Action = (event: KeyboardEvent) => void;
/** By the key, or by `g` and the key after it: `j` or `g s`. */
type Bindings = Readonly<Record<string, Action>>;

const PREFIX = 'g';
const PREFIX_HOLDS_MS = 1500;
/** Keys that cannot be switched off, because they are not characters. */
const named = /^(?:Escape|Home|End)$/;

const layers: { current: Bindings }[] = [];
let prefixAtMs = -Infinity;

/**
 * Binds keys while the component is shown. Components that came later take precedence.
 * @param of whether the keys are a view's, or the console's, which come after those of all views
 */
export function useKeys(bindings: Bindings, of: 'view' | 'console' = 'view'): void {
  const layer = useRef(bindings);
  layer.current = bindings;
  // Together with what is drawn: a key that is pressed as soon as it can be seen works.
  useLayoutEffect(() => {
    // The console's frame may be mounted after the page in it.
    if (of === 'view') layers.unshift(layer);
    else layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
  return target.isContentEditable || /^(?:TEXTAREA|SELECT)$/.test(target.tagName);
}

document.addEventListener('keydown', (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (ctrlKey || metaKey || altKey || event.defaultPrevented || event.isComposing) return;
  if (isTyping(target) || document.querySelector('dialog[open], [popover]:popover-open') !== null) return;
  if (!named.test(key) && singleKeys.peek() === 'off') return;
  const isSecond = event.timeStamp - prefixAtMs < PREFIX_HOLDS_MS;
  prefixAtMs = -Infinity;
  const name = isSecond ? `${PREFIX} ${key}` : key;
  const action = layers.find((layer) => name in layer.current)?.current[name];
  if (action !== undefined) {
    event.preventDefault();
    action(event);
  } else if (key === PREFIX && !isSecond) {
    prefixAtMs = event.timeStamp;
  }
});
