/** Which dialog is open. This state is outside the components that are redrawn with new data, so that no refresh closes a dialog. */
import { signal } from '@preact/signals';
import type { VNode } from 'preact';

export const isHelpOpen = signal(false);
export const isPaletteOpen = signal(false);
/** The sessions that an operator is about to end. */
export const endTargets = signal<readonly string[] | undefined>(undefined);
/** A dialog that a page opened; its code is loaded with the page. */
export const dialog = signal<VNode | undefined>(undefined);
/** A text to copy by hand, if the browser does not let pages copy. */
export const textToCopy = signal<string | undefined>(undefined);
/** A short message about what was just done. */
export const notice = signal('');

export function closeDialog(): void {
  dialog.value = undefined;
}

/** Closes all dialogs, because the page that they are about is being left. */
export function closeDialogs(): void {
  closeDialog();
  isHelpOpen.value = false;
  isPaletteOpen.value = false;
  endTargets.value = undefined;
  textToCopy.value = undefined;
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message about what was done. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = '';
  }, 4000);
}

/** Copies a text, and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    textToCopy.value = text;
  }
}
