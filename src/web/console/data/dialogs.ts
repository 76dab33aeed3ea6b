/** Which dialog is open. They live outside of what is read again and again, so that no reading takes one away. */
import { signal } from '@preact/signals';
import type { VNode } from 'preact';

export const isHelpOpen = signal(false);
export const isPaletteOpen = signal(false);
/** The sessions that somebody is about to end. */
export const endTargets = signal<readonly string[] | undefined>(undefined);
/** The dialog that a page opened, which comes with the page's own program. */
export const dialog = signal<VNode | undefined>(undefined);
/** A text for copying by hand, where the browser does not let a page copy. */
export const textToCopy = signal<string | undefined>(undefined);
/** What was just done, in a few words. */
export const notice = signal('');

export function closeDialog(): void {
  dialog.value = undefined;
}

/** Closes them all, because the page that they are about is left. */
export function closeDialogs(): void {
  closeDialog();
  isHelpOpen.value = false;
  isPaletteOpen.value = false;
  endTargets.value = undefined;
  textToCopy.value = undefined;
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Says briefly what was done. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = '';
  }, 4000);
}

/** Copies, and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    textToCopy.value = text;
  }
}
