import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes, VNode, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Answer, Failure } from '../data/api.ts';
import { closeDialog, dialog, say } from '../data/dialogs.ts';
import { refreshAll } from '../data/live.ts';
import { Details, Warning, wordsOf } from './view-states.tsx';

interface Props {
  readonly title: string;
  readonly class?: string;
  /** Called however the dialog was closed. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog on top of the page, open while it is mounted. The browser keeps the focus in it, and restores it afterwards. */
export function Modal({ title, class: name = '', onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const closed = useRef(onClose);
  closed.current = onClose;
  useEffect(() => {
    const opened = element.current;
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
    <dialog ref={element} class={name} aria-label={title}>
      {children}
    </dialog>
  );
}

/** Shows in a dialog why a request was refused, and which field is wrong. */
export function Refused({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined) return null;
  return (
    <div class="problem" role="alert">
      <p>{wordsOf(failure)}</p>
      <Details of={failure.kind === 'refused' ? failure.details : []} />
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

interface FormDialogProps<T> {
  readonly title: string;
  /** On the button that sends the form. */
  readonly verb: string;
  readonly children?: ComponentChildren;
  readonly send: (data: FormData, reason: string) => Promise<Answer<T>>;
  /** What to say when it is done; the dialog then closes. With undefined it stays open. */
  readonly done?: string | ((body: T) => string | undefined);
  /** What replaces the form when it is done: a secret that is shown once, for example. */
  readonly result?: { readonly title: string; readonly show: (body: T) => ComponentChildren };
  readonly isDangerous?: boolean;
  /** False until it is known what the action does. */
  readonly isReady?: boolean;
  /** Whether the audit records a reason. */
  readonly reason?: 'required' | 'optional';
  /** A text that must be typed before anything is done. */
  readonly confirm?: string | undefined;
}

/** A dialog with a form. It shows why the form was refused, and closes when it is done. */
export function FormDialog<T>({
  title,
  verb,
  children,
  send,
  done,
  result,
  isDangerous = false,
  isReady = true,
  reason: asked,
  confirm,
}: FormDialogProps<T>) {
  const id = useId();
  const reason = useSignal('');
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const received = useSignal<T | undefined>(undefined);
  const run = async (form: HTMLFormElement): Promise<void> => {
    isRunning.value = true;
    const answer = await send(new FormData(form), reason.peek().trim());
    isRunning.value = false;
    failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return;
    if (result === undefined) {
      const words = typeof done === 'function' ? done(answer.body) : done;
      if (words === undefined) return;
      say(words);
      closeDialog();
    } else received.value = answer.body;
    void refreshAll();
  };
  const body = received.value;
  const isDone = result !== undefined && body !== undefined;
  return (
    <Modal title={isDone ? result.title : title} class={isDangerous ? 'end' : ''} onClose={closeDialog}>
      {isDone ? (
        <>
          {result.show(body)}
          <form method="dialog" class="buttons">
            <button autofocus>Done</button>
          </form>
        </>
      ) : (
        <form onSubmit={onSend(run)}>
          <h2>
            {isDangerous && <Warning />} {title}
          </h2>
          {children}
          {asked && <ReasonField reason={reason} required={asked === 'required'} />}
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
                onInput={({ currentTarget: field }) =>
                  field.setCustomValidity(field.value.trim() === confirm ? '' : `Please type ${confirm}.`)
                }
              />
            </>
          )}
          <Refused failure={failure.value} />
          <div class="buttons">
            <button class={isDangerous ? 'danger' : 'primary'} disabled={!isReady || isRunning.value}>
              {isDangerous && <Warning />} {verb}
            </button>
            <button type="button" onClick={closeDialog}>
              {isDangerous ? 'Keep' : 'Cancel'}
            </button>
          </div>
        </form>
      )}
    </Modal>
  );
}

/** Takes something away, or gives it back. It says what that does, asks for a reason, and, if much depends on it, for the name again. */
export function RevokeDialog(dialog: FormDialogProps<unknown>) {
  return <FormDialog isDangerous reason="required" {...dialog} />;
}

interface OpenButtonProps {
  readonly verb: string;
  /** What it is about, for screen readers, if several buttons have the same verb. */
  readonly of?: string;
  readonly kind?: 'primary' | 'danger';
  readonly opens: VNode;
}

/** A button that opens a dialog. */
export function OpenButton({ verb, of, kind, opens }: OpenButtonProps) {
  return (
    <button type="button" class={kind} onClick={() => (dialog.value = opens)}>
      {kind === 'danger' && <Warning />}{' '}
      <span>
        {verb}
        {of !== undefined && <span class="unseen"> {of}</span>}…
      </span>
    </button>
  );
}

/** Says what comes of a request, and then reads again what is shown. */
export function sayOutcome(request: Promise<Answer<unknown>>, done: string): void {
  void request.then((answer) => {
    say(answer.ok ? done : wordsOf(answer.failure));
    void refreshAll();
  });
}

/** The texts of a form's field, of which there are several if it is a list of boxes to check. */
export function textsOf(data: FormData, name: string): string[] {
  return data.getAll(name).filter((value) => typeof value === 'string');
}

/** The text of a form's field; empty if it has none. */
export function textOf(data: FormData, name: string): string {
  return (textsOf(data, name)[0] ?? '').trim();
}

/** A text, a number or the like in a form, of which the browser keeps nothing. */
export function TextField({ label, ...input }: { readonly label: ComponentChildren } & InputHTMLAttributes) {
  return (
    <label class="field">
      {label}
      <input type="text" autocomplete="off" spellcheck={false} {...input} />
    </label>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly name?: string;
  readonly values: readonly (readonly [value: string, words: string])[];
  /** What is chosen: always if `onSet` takes what the operator chooses, otherwise at first. */
  readonly chosen?: string | undefined;
  readonly onSet?: (value: string) => void;
}

/** A choice in a form. */
export function SelectField({ label, name, values, chosen, onSet }: SelectFieldProps) {
  return (
    <label class="field">
      {label}
      <select name={name} value={onSet && chosen} onChange={({ currentTarget }) => onSet?.(currentTarget.value)}>
        {values.map(([value, words]) => (
          <option key={value} value={value} selected={value === chosen}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Handles `submit` of a form that the page sends, not the browser. */
export function onSend(send: (form: HTMLFormElement) => unknown) {
  return (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void send(event.currentTarget);
  };
}
