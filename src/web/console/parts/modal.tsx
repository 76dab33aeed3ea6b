import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly class?: string;
  /** Called however it was closed. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog over the page, open as long as it is drawn. The browser keeps the focus in it and gives it back. */
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
      // It tells of its closing later, when another one may be open already.
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
