import { Parts } from './text-parts.tsx';

/** An error code, with its label where this version knows it. */
export function ErrorCode({ code }: { readonly code: string }) {
  return (
    <code title={ERROR_LABELS[code]}>
      <Parts text={code} />
    </code>
  );
}
