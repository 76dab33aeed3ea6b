import type { Clock } from '../../kernel/clock.ts';
import type { BusMessage } from '../../protocol/bus.ts';
import type { Bus } from '../../stores/bus/contract.ts';
import type { CallPages } from './call-pages.ts';

/**
 * What pages and operators ask, over the bus, of the calls that this node holds. A request is carried out before `untilMs` or never, and the node
 * that carried it out answers; where no node has the call there is no answer.
 */
export class PageRequests {
  readonly #bus: Pick<Bus, 'publish'>;
  readonly #clock: Clock;
  /** The current call of each session. */
  readonly #bySession = new Map<string, CallPages>();

  constructor({ bus, clock }: { readonly bus: Pick<Bus, 'publish'>; readonly clock: Clock }) {
    this.#bus = bus;
    this.#clock = clock;
  }

  add(sessionId: string, pages: CallPages): void {
    this.#bySession.set(sessionId, pages);
  }

  remove(sessionId: string, pages: CallPages): void {
    if (this.#bySession.get(sessionId) === pages) this.#bySession.delete(sessionId);
  }

  hear(message: BusMessage): void {
    if (message.type === 'call.wanted') {
      const { sessionId, node, isOn, tools } = message;
      this.#bySession.get(sessionId)?.want(node, isOn, tools);
    } else if (message.type === 'call.asked' || message.type === 'call.whisper') this.#take(message);
  }

  #take(asked: Extract<BusMessage, { type: 'call.asked' | 'call.whisper' }>): void {
    const { sessionId, request, untilMs } = asked;
    const pages = this.#bySession.get(sessionId);
    if (pages === undefined || this.#clock.now() >= untilMs) return;
    if (asked.type === 'call.whisper')
      this.#bus.publish({ type: 'call.whispered', request, isTold: pages.whisper(request, asked.text) });
    else
      this.#bus.publish({ type: 'call.answered', sessionId, request, code: pages.actions.take(asked.frame) ?? null });
  }
}
