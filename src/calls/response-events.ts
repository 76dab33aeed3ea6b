import type { ResponseEvent } from '../../machines/held-call/types.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';

/** What a provider reports about responses, and about the settings that they are made with. */
export type UpstreamResponseEvent = Extract<
  UpstreamEvent,
  {
    type:
      | 'responseStarted'
      | 'responseDone'
      | 'responseHeard'
      | 'conversationIdle'
      | 'responseRefused'
      | 'itemAdded'
      | 'toolCalled'
      | 'configChanged'
      | 'configRestored'
      | 'usage';
  }
>;

type StartedResponse = Extract<UpstreamEvent, { type: 'responseStarted' }>;
type Affords = (started: StartedResponse) => boolean;
type Conversion<T extends UpstreamResponseEvent['type']> = (
  event: Extract<UpstreamResponseEvent, { type: T }>,
  at: number,
  affords: Affords,
) => ResponseEvent;

const conversions: { readonly [T in UpstreamResponseEvent['type']]: Conversion<T> } = {
  responseStarted: (event, at, affords) => {
    const { type: _type, ...response } = event;
    return { type: 'RESPONSE_STARTED', at, response, isAffordable: affords(event) };
  },
  responseDone: ({ id, isTold }, at) => ({ type: 'RESPONSE_DONE', at, id, isTold }),
  responseHeard: ({ id, tokens }, at) => ({ type: 'RESPONSE_HEARD', at, id, tokens }),
  usage: ({ key, tokens }, at) => ({ type: 'USAGE', at, id: key, tokens }),
  itemAdded: ({ id, tokens }, at) => ({ type: 'ITEM_ADDED', at, id, tokens }),
  conversationIdle: (_event, at) => ({ type: 'CONVERSATION_IDLE', at }),
  responseRefused: ({ isBusy, instructions }, at) => ({ type: 'RESPONSE_REFUSED', at, isBusy, instructions }),
  toolCalled: (_event, at) => ({ type: 'TOOL_CALLED', at }),
  configChanged: ({ isAsSdk }, at) => ({ type: 'CONFIG_CHANGED', at, isAsSdk }),
  configRestored: (_event, at) => ({ type: 'CONFIG_RESTORED', at }),
};

/** The event as machines/held-call takes it. @param affords whether the remaining budget pays for a response beside those that are running */
export function asHeldCallEvent(event: UpstreamResponseEvent, at: number, affords: Affords): ResponseEvent {
  return conversions[event.type](event as never, at, affords);
}
