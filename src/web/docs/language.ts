const KEY = 'switchboard-docs-language';

/** Remembers the language that a visitor chose for the next visit. */
export function keepLanguage(): void {
  const choices = document.querySelectorAll<HTMLInputElement>('input[name="language"]');
  const kept = read();
  for (const choice of choices) {
    if (choice.value === kept) choice.checked = true;
    choice.addEventListener('change', () => write(choice.value));
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // The visitor does not allow storage.
    return null;
  }
}

function write(value: string): void {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Without storage the choice applies to this visit only.
  }
}
