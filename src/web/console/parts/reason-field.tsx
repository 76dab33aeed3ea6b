import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';

const LONGEST_REASON = 500;

/** Why somebody does what cannot be taken back: the audit keeps it. */
export function ReasonField({ reason }: { readonly reason: Signal<string> }) {
  const id = useId();
  return (
    <>
      <label for={id}>Reason, for the audit</label>
      <textarea
        id={id}
        required
        rows={2}
        maxLength={LONGEST_REASON}
        value={reason.value}
        onInput={({ currentTarget }) => {
          reason.value = currentTarget.value;
          currentTarget.setCustomValidity(currentTarget.value.trim() === '' ? 'Please say why.' : '');
        }}
      />
    </>
  );
}
