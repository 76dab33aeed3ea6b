import type { Session, SwitchboardError, Usage } from '../widget/api.ts';
import { element } from './elements.ts';
import { showUsage } from './gauges.ts';
import { notify } from './notice.ts';
import type { Wire } from './wire.ts';

const report = element('report', HTMLButtonElement);
const exceed = element('exceed', HTMLButtonElement);
const elsewhere = element('elsewhere', HTMLButtonElement);
const block = element('block', HTMLButtonElement);
const dialog = element('confirm', HTMLDialogElement);

/** What a visitor can do to a session to see how Switchboard reacts. */
export class Provocations {
  readonly #wire: Wire;
  readonly #email: string;
  #session: Session | undefined;
  #usage: Usage | undefined;

  constructor(wire: Wire, email: string) {
    this.#wire = wire;
    this.#email = email;
    report.addEventListener('click', () => this.#report(5000, 0.25));
    exceed.addEventListener('click', () => this.#ask());
    elsewhere.addEventListener('click', () => this.#endElsewhere());
    block.addEventListener('click', () => this.#block(block.getAttribute('aria-pressed') !== 'true'));
    element('confirm-no', HTMLButtonElement).addEventListener('click', () => dialog.close());
    element('confirm-yes', HTMLButtonElement).addEventListener('click', () => {
      dialog.close();
      if (this.#usage !== undefined) this.#report(this.#usage.dailyTokenLimit - this.#usage.tokens + 1, 0);
    });
  }

  /** Offers them for a session, or disables them if there is none. */
  offer(session: Session | undefined): void {
    this.#session = session;
    for (const button of [report, exceed, elsewhere, block]) button.disabled = session === undefined;
    if (session === undefined) dialog.close();
    session?.on('usage', ({ usage }) => (this.#usage = usage));
  }

  #report(tokens: number, dollars: number): void {
    if (this.#session?.brokered) notify('Not counted: Switchboard meters this call itself.', 'warning');
    const before = this.#usage;
    // A refusal ends the session, and the page hears that as with any widget. The report was counted all the same.
    this.#session?.reportUsage({ tokens, dollars }).catch(({ code }: SwitchboardError) => {
      if (before !== undefined && code === 'DAILY_QUOTA_EXCEEDED')
        showUsage({ ...before, tokens: before.tokens + tokens, dollars: before.dollars + dollars });
    });
  }

  #ask(): void {
    if (this.#usage === undefined) return;
    const left = new Intl.NumberFormat('en').format(this.#usage.dailyTokenLimit - this.#usage.tokens);
    element('confirm-text', HTMLElement).textContent =
      `${left} tokens are left today. This reports one more. The session ends, and this visitor can start none until tomorrow; ` +
      'after a reload of the page you are somebody else.';
    dialog.showModal();
  }

  #endElsewhere(): void {
    const body = { sm_session_id: this.#session?.id, email: this.#email };
    this.#wire.postAs('another tab', '/api/realtime/end', body).catch(() => undefined);
  }

  #block(isBlocked: boolean): void {
    block.setAttribute('aria-pressed', String(isBlocked));
    this.#wire.block(isBlocked);
    // Browsers send this event when the network is back, and the SDK then retries at once.
    if (!isBlocked) dispatchEvent(new Event('online'));
  }
}
