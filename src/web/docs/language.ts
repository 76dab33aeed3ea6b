const KEY = 'switchboard-docs-language';

/** The language that a visitor chose is still chosen on the next visit. */
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
    // Where the visitor allows no storage.
    return null;
  }
}

function write(value: string): void {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Then it holds for this visit.
  }
}
