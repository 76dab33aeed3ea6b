import { readKept, writeKept } from '../shared/local-storage.ts';

const KEY = 'switchboard-docs-language';

/** Remembers the language that a visitor chose for the next visit. */
export function keepLanguage(): void {
  const choices = document.querySelectorAll<HTMLInputElement>('input[name="language"]');
  const kept = readKept(KEY);
  for (const choice of choices) {
    if (choice.value === kept) choice.checked = true;
    choice.addEventListener('change', () => writeKept(KEY, choice.value));
  }
}
