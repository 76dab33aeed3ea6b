/** What a person chose for this browser. Nothing of it leaves the browser. */
import { effect, signal, type Signal } from '@preact/signals';
import type { Zone } from '../words/format.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme: Signal<Theme> = kept('theme', ['system', 'light', 'dark']);
export const zone: Signal<Zone> = kept('zone', ['utc', 'local']);
/** Keys without a modifier may be in the way of speech input and slips of the hand (WCAG 2.1.4). */
export const singleKeys: Signal<'on' | 'off'> = kept('keys', ['on', 'off']);

effect(() => {
  const root = document.documentElement;
  if (theme.value === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme.value;
});

/** The first of the values holds until another is chosen. */
function kept<T extends string>(name: string, values: readonly [T, ...T[]]): Signal<T> {
  const found = values.find((value) => value === readKept(name));
  const choice = signal<T>(found ?? values[0]);
  effect(() => writeKept(name, choice.value));
  return choice;
}

function keyOf(name: string): string {
  return `switchboard.console.${name}`;
}

// A browser that keeps nothing throws: then a choice holds as long as the page.
export function readKept(name: string): string | null {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
}

export function writeKept(name: string, value: string): void {
  try {
    localStorage.setItem(keyOf(name), value);
  } catch {
    // As above.
  }
}
