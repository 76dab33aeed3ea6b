import type { DemoConfig } from '../../protocol/site-data.ts';
import type { Session, SessionEvents } from '../widget/api.ts';
import type { Board } from './board.ts';
import { element } from './elements.ts';
import { placeElement } from './tag.ts';

/** Puts the element on the page, as any page would, and shows its events. */
export function offerElement(config: DemoConfig, email: string, board: Board): void {
  const widget = placeElement(config, { email });
  let held: Session | undefined;
  /** Why the call was lost. The end of the session, which follows, says less. */
  let loss: string | undefined;

  function hear<T extends keyof SessionEvents>(type: T, react: (event: SessionEvents[T]) => void): void {
    widget.addEventListener(`switchboard-${type}`, (event) => {
      const { session } = widget;
      if (session !== undefined && session !== held) {
        held = session;
        loss = undefined;
        board.clear();
        board.hold(session, 'this page’s reports');
      }
      react((event as CustomEvent<SessionEvents[T]>).detail);
    });
  }

  hear('state', ({ state }) => board.state(state));
  hear('media', ({ state, error }) => {
    board.call(state);
    loss = error?.userMessage;
    if (loss !== undefined) board.problem(loss);
  });
  hear('warning', ({ reason, secondsLeft }) => board.warning(reason, secondsLeft));
  hear('error', ({ userMessage }) => {
    // Without a session, the board still shows an earlier one.
    if (held !== undefined) return;
    // Also for a session whose call could not even begin: it ends now.
    loss = userMessage;
    board.clear();
    board.over(userMessage);
  });
  hear('ended', ({ userMessage }) => {
    board.over(loss ?? userMessage);
    held = undefined;
  });
  // A call that the page opens itself may not be one that a visitor can write in.
  element('offer', HTMLElement).hidden = config.provider.call !== 'brokered';
  const call = element('call-details', HTMLDetailsElement);
  call.hidden = false;
  call.open = matchMedia('(min-width: 52rem)').matches;
}
