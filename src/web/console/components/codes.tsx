import { copy } from '../data/dialogs.ts';

/** A text without spaces, which in a narrow place breaks after the marks between its parts. */
export function Parts({ text }: { readonly text: string }) {
  return <>{text.split(/(?<=[_&,@:/])(?=\w)/).map((part, index) => [part, <wbr key={index} />])}</>;
}

/** An error code, with its label where this version knows it. */
export function ErrorCode({ code }: { readonly code: string }) {
  return (
    <code title={ERROR_LABELS[code]}>
      <Parts text={code} />
    </code>
  );
}

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
