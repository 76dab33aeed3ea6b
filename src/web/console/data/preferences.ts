/** What a person has chosen in this browser. It never leaves the browser. */
import { effect, signal, type Signal } from '@preact/signals';
import { readKept, writeKept } from '../../shared/local-storage.ts';
import type { Zone } from '../labels/format.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme: Signal<Theme> = kept('theme', ['system', 'light', 'dark']);
export const zone: Signal<Zone> = kept('zone', ['utc', 'local']);
/** Keys without a modifier can be switched off, because they can get in the way of speech input and accidental presses (WCAG 2.1.4). */
export const singleKeys: Signal<'on' | 'off'> = kept('keys', ['on', 'off']);

effect(() => {
  const root = document.documentElement;
  if (theme.value === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme.value;
});

/** A stored choice; by default the first of the values. */
function kept<T extends string>(name: string, values: readonly [T, ...T[]]): Signal<T> {
  const found = values.find((value) => value === readKept(keyOf(name)));
  const choice = signal<T>(found ?? values[0]);
  effect(() => writeKept(keyOf(name), choice.value));
  return choice;
}

/** The name under which this browser keeps something of the console. */
export function keyOf(name: string): string {
  return `switchboard.console.${name}`;
}
