/** Keys without a modifier: off in fields and while a dialog is open, and altogether where somebody switched them off. */
import { useEffect, useRef } from 'preact/hooks';
import { singleKeys } from '../data/preferences.ts';

type Action = (event: KeyboardEvent) => void;
/** By the key, or by `g` and the key after it: `j`, `g s`. */
type Bindings = Readonly<Record<string, Action>>;

const PREFIX = 'g';
const PREFIX_HOLDS_MS = 1500;
/** These need no switch: they are no characters. */
const named = /^(?:Escape|Home|End)$/;

const layers: { current: Bindings }[] = [];
let prefixAtMs = -Infinity;

/**
 * Binds keys while the component is shown; who came last is asked first.
 * @param of whether they are those of one view, or of the console, which is asked after all views
 */
export function useKeys(bindings: Bindings, of: 'view' | 'console' = 'view'): void {
  const layer = useRef(bindings);
  layer.current = bindings;
  useEffect(() => {
    // A frame may be there after the page in it.
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
