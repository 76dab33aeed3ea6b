import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Failure } from '../data/api.ts';
import { closeDialog, say } from '../data/dialogs.ts';
import { refreshAll } from '../data/live.ts';
import { Warning, wordsOf } from './view-states.tsx';

interface Props {
  readonly title: string;
  readonly class?: string;
  /** Called however the dialog was closed. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog on top of the page, open while it is mounted. The browser keeps the focus in it, and restores it afterwards. */
export function Modal({ title, class: name = '', onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const closed = useRef(onClose);
  closed.current = onClose;
  useEffect(() => {
    const opened = dialog.current;
    const note = (): void => closed.current();
    opened?.addEventListener('close', note);
    opened?.showModal();
    return () => {
      // The `close` event comes later, when another dialog may already be open.
      opened?.removeEventListener('close', note);
      opened?.close();
    };
  }, []);
  return (
    <dialog ref={dialog} class={name} aria-label={title}>
      {children}
    </dialog>
  );
}

/** Shows in a dialog why a request was refused, and which field is wrong. */
export function Refused({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined) return null;
  const details = failure.kind === 'refused' ? failure.details : [];
  return (
    <div class="problem" role="alert">
      <p>{wordsOf(failure)}</p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The buttons that submit a dialog's form, and close the dialog. */
export function FormButtons({ verb, isRunning }: { readonly verb: string; readonly isRunning: boolean }) {
  return (
    <div class="buttons">
      <button class="primary" disabled={isRunning}>
        {verb}
      </button>
      <button type="button" onClick={closeDialog}>
        Cancel
      </button>
    </div>
  );
}

const MAX_REASON_LENGTH = 500;

interface ReasonFieldProps {
  readonly reason: Signal<string>;
  readonly required?: boolean;
}

/** Asks why somebody does something. The audit records it. */
export function ReasonField({ reason, required = true }: ReasonFieldProps) {
  const id = useId();
  return (
    <>
      <label for={id}>Reason, for the audit</label>
      <textarea
        id={id}
        required={required}
        rows={2}
        maxLength={MAX_REASON_LENGTH}
        value={reason.value}
        onInput={({ currentTarget }) => {
          reason.value = currentTarget.value;
          currentTarget.setCustomValidity(required && currentTarget.value.trim() === '' ? 'Please say why.' : '');
        }}
      />
    </>
  );
}

/** Takes something away, or gives it back. It says what that does, asks for a reason, and, if much depends on it, for the name again. */

interface RevokeDialogProps {
  readonly title: string;
  readonly verb: string;
  /** What the action does. */
  readonly children: ComponentChildren;
  /** False until it is known what the action does. */
  readonly isReady: boolean;
  /** Whether the audit records a reason. */
  readonly needsReason?: boolean;
  /** A text that must be typed before anything is done. */
  readonly confirm?: string;
  /** @returns why it was refused, or undefined */
  readonly act: (reason: string) => Promise<Failure | undefined>;
  readonly done: string;
}

export function RevokeDialog({
  title,
  verb,
  children,
  isReady,
  needsReason = true,
  confirm,
  act,
  done,
}: RevokeDialogProps) {
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
