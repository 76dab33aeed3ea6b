import { copy } from '../data/dialogs.ts';

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <button type="button" aria-label={`Copy the ${what.toLowerCase()}`} onClick={() => void copy(text, what)}>
      Copy
    </button>
  );
}
