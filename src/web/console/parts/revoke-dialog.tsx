/** Takes something away, or gives it back: it says what that does, wants a reason, and where much hangs on it the name once more. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Failure } from '../data/api.ts';
import { closeDialog, say } from '../data/dialogs.ts';
import { refreshAll } from '../data/live.ts';
import { Modal } from './modal.tsx';
import { ReasonField } from './reason-field.tsx';
import { Refused } from './refused.tsx';
import { Warning } from './view-states.tsx';

interface Props {
  readonly title: string;
  readonly verb: string;
  /** What it does. */
  readonly children: ComponentChildren;
  /** False until it is known what it does. */
  readonly isReady: boolean;
  /** Whether the audit keeps why. */
  readonly needsReason?: boolean;
  /** To be typed before anything is done. */
  readonly confirm?: string;
  /** @returns why it was refused */
  readonly act: (reason: string) => Promise<Failure | undefined>;
  readonly done: string;
}

export function RevokeDialog({ title, verb, children, isReady, needsReason = true, confirm, act, done }: Props) {
  const id = useId();
  const reason = useSignal('');
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const run = async (): Promise<void> => {
    isRunning.value = true;
    failure.value = await act(reason.peek().trim());
    isRunning.value = false;
    if (failure.peek() !== undefined) return;
    say(done);
    closeDialog();
    void refreshAll();
  };
  return (
    <Modal title={title} class="end" onClose={closeDialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <h2>
          <Warning /> {title}
        </h2>
        {children}
        {needsReason && <ReasonField reason={reason} />}
        {confirm !== undefined && (
          <>
            <label for={id}>
              Type <code>{confirm}</code> to confirm
            </label>
            <input
              id={id}
              required
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) =>
                currentTarget.setCustomValidity(currentTarget.value.trim() === confirm ? '' : `Please type ${confirm}.`)
              }
            />
          </>
        )}
        <Refused failure={failure.value} />
        <div class="buttons">
          <button class="danger" disabled={!isReady || isRunning.value}>
            <Warning /> {verb}
          </button>
          <button type="button" onClick={closeDialog}>
            Keep
          </button>
        </div>
      </form>
    </Modal>
  );
}
