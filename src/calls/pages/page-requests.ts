import type { Clock } from '../../kernel/time.ts';
import type { BusMessage } from '../../protocol/bus.ts';
import type { Bus, BusListeners } from '../../stores/bus/contract.ts';
import type { CallPages } from './call-pages.ts';

/** The current call of a session on this node. */
interface Current {
  readonly pages: CallPages;
  /** A call that another node opens in its place, of which the record here may not know yet. */
  follower: string | undefined;
}

/**
 * What pages and operators ask, over the bus, of the calls that this node holds. A request is carried out before `untilMs` or never, and the node
 * that carried it out answers. A node whose call is not open says nothing: another node may hold the session's open call. Where no node has one there
 * is no answer.
 */
export class PageRequests {
  readonly #bus: Pick<Bus, 'publish'>;
  readonly #clock: Clock;
  readonly #bySession = new Map<string, Current>();
  readonly listeners: BusListeners = {
    'call.wanted': ({ sessionId, node, isOn, tools }) => this.#bySession.get(sessionId)?.pages.want(node, isOn, tools),
    'call.asked': (message) => this.#take(message),
    'call.whisper': (message) => this.#whisper(message),
    'call.shown': (message) => this.#noteFollower(message),
  };

  constructor({ bus, clock }: { readonly bus: Pick<Bus, 'publish'>; readonly clock: Clock }) {
    this.#bus = bus;
    this.#clock = clock;
  }

  add(sessionId: string, pages: CallPages): void {
    this.#bySession.set(sessionId, { pages, follower: undefined });
  }

  remove(sessionId: string, pages: CallPages): void {
    if (this.#bySession.get(sessionId)?.pages === pages) this.#bySession.delete(sessionId);
  }

  #whisper({ sessionId, request, untilMs, text }: Extract<BusMessage, { type: 'call.whisper' }>): void {
    const pages = this.#open(sessionId, untilMs);
    if (pages !== undefined)
      this.#bus.publish({ type: 'call.whispered', request, isTold: pages.whisper(request, text) });
  }

  #take({ sessionId, request, untilMs, frame }: Extract<BusMessage, { type: 'call.asked' }>): void {
    const pages = this.#open(sessionId, untilMs);
    if (pages === undefined) return;
    this.#bus.publish({ type: 'call.answered', sessionId, request, code: pages.actions.take(frame) ?? null });
  }

  /** The session's open call; undefined where this node does not hold it, and once `untilMs` has come. */
  #open(sessionId: string, untilMs: number): CallPages | undefined {
    const current = this.#bySession.get(sessionId);
    if (current === undefined || current.follower !== undefined || this.#clock.now() >= untilMs) return undefined;
    return current.pages.isOpen ? current.pages : undefined;
  }

  /** A session opens one call at a time, so a call that is being opened elsewhere replaces the one here, unless it is given up. */
  #noteFollower({ sessionId, frames }: Extract<BusMessage, { type: 'call.shown' }>): void {
    for (const frame of frames) {
      if (frame.type !== 'call') continue;
      const current = this.#bySession.get(sessionId);
      if (current === undefined || current.pages.callId === frame.call) continue;
      if (frame.state === 'connecting') current.follower = frame.call;
      else if (frame.state !== 'open' && current.follower === frame.call) current.follower = undefined;
    }
  }
}
