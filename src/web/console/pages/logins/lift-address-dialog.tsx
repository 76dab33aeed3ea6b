import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { liftAddress } from '../../data/logins.ts';
import { RevokeDialog } from '../../parts/revoke-dialog.tsx';

/** Lets an address log in again from new browsers. */
export function LiftAddressDialog() {
  const id = useId();
  const email = useSignal('');
  return (
    <RevokeDialog
      title="Let an address log in again?"
      verb="Let it log in"
      isReady
      act={(reason) => liftAddress(email.peek().trim(), reason)}
      done="It may log in again"
    >
      <p>
        Too many wrong codes close an address, or its domain, to browsers that never logged in by it. Be sure who asks:
        this forgets the wrong codes, and lets the address pass what its domain has used up, for a day.
      </p>
      <label for={id}>E-mail address</label>
      <input
        id={id}
        type="email"
        required
        autocomplete="off"
        value={email.value}
        onInput={({ currentTarget }) => {
          email.value = currentTarget.value;
        }}
      />
    </RevokeDialog>
  );
}
