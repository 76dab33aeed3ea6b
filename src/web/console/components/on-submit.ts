import type { TargetedSubmitEvent } from 'preact';

/** Handles `submit` of a form that the page sends, not the browser. */
export function onSend(send: (form: HTMLFormElement) => unknown) {
  return (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void send(event.currentTarget);
  };
}
