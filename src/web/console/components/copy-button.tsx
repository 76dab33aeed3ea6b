import { copy } from '../data/dialogs.ts';

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <button type="button" aria-label={`Copy the ${what.toLowerCase()}`} onClick={() => void copy(text, what)}>
      Copy
    </button>
  );
}

/** A text that is to be copied from here. */
export function Copied({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <p class="copied">
      <code class="break">{text}</code> <CopyButton text={text} what={what} />
    </p>
  );
}
