import { vi } from 'vitest';
import type { TestCall } from './provider/call.ts';
import { offerSdp } from './provider/sdp.ts';

/** The data channel of a page; its other end is a call of the stand-in for a provider. */
class PageChannel extends EventTarget {
  readyState: 'connecting' | 'open' | 'closed' = 'connecting';
  #call: TestCall | undefined;

  open(call: TestCall): void {
    this.#call = call;
    call.onPageEvent = (event) => this.#receive(event);
    this.readyState = 'open';
    this.dispatchEvent(new Event('open'));
    call.onPageEvent({ type: 'session.created', event_id: 'event_created', session: call.describeSession() });
  }

  send(text: string): void {
    this.#call?.fromPage(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 'closed';
  }

  #receive(event: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(event) }));
  }
}

/**
 * Gives this process what the provider's own SDK, `@openai/agents-realtime`, needs of a browser: peer connections whose data channel talks to
 * the call that was created last, and requests that carry the page's origin. Call `vi.unstubAllGlobals` afterwards.
 */
export function playBrowser(origin: string, lastCall: () => TestCall): void {
  class PageConnection {
    onconnectionstatechange: unknown = null;
    ontrack: unknown = null;
    readonly connectionState = 'connected';
    readonly #channel = new PageChannel();

    createDataChannel(): PageChannel {
      return this.#channel;
    }

    addTrack(): void {}

    getSenders(): readonly never[] {
      return [];
    }

    createOffer(): Promise<object> {
      return Promise.resolve({ type: 'offer', sdp: offerSdp() });
    }

    setLocalDescription(): Promise<void> {
      return Promise.resolve();
    }

    setRemoteDescription(): Promise<void> {
      this.#channel.open(lastCall());
      return Promise.resolve();
    }

    close(): void {
      this.#channel.close();
    }
  }
  const { fetch } = globalThis;
  vi.stubGlobal('RTCPeerConnection', PageConnection);
  vi.stubGlobal('fetch', (url: URL, { headers, ...init }: RequestInit) =>
    fetch(url, { ...init, headers: { ...(headers as Record<string, string>), Origin: origin } }),
  );
}

/** What the SDK accepts in place of a microphone and a speaker. */
export const noAudio = {
  mediaStream: { getAudioTracks: () => [{}] } as never,
  audioElement: {} as never,
};
