import { z } from 'zod';
import { clientFrames, serverFrames } from '../protocol/frames.ts';
import { FEED_PATH, FEED_SUBPROTOCOL, feedCloseCode, feedFrames, watchFrame } from '../protocol/operator/feed.ts';
import { closeCode, closeMeanings } from '../protocol/close-codes.ts';
import { plainSchemas } from '../protocol/plain-schemas.ts';

export interface ChannelAddress {
  /** The service's own address, http or https. */
  readonly serverUrl: string;
  readonly path: string;
  readonly subprotocol: string;
}

type ClientFrameName = keyof typeof clientFrames;
type ServerFrameName = keyof typeof serverFrames;

/** What each frame of a client is for, and which frames answer it. */
const requests: Readonly<Record<ClientFrameName, { summary: string; answers: readonly ServerFrameName[] }>> = {
  attach: { summary: 'Attach to a session; must be sent within 5 seconds', answers: ['attached', 'ended', 'error'] },
  heartbeat: { summary: 'Keep the session alive', answers: ['heartbeat', 'ended', 'error'] },
  usage: { summary: 'Add to the day’s totals; each id is counted once', answers: ['usage', 'ended', 'error'] },
  end: { summary: 'End the session', answers: ['ended', 'error'] },
  rate: { summary: 'Rate the conversation, from 1 to 5; the last rating counts', answers: ['error'] },
  say: { summary: 'Send a text into the call; the agent answers it', answers: ['error'] },
  interrupt: { summary: 'Make the agent stop speaking', answers: ['error'] },
  talk: {
    summary: 'Report that the visitor pressed the button that they hold to speak, or released it',
    answers: ['error'],
  },
  tool_result: {
    summary: 'Return the result of a tool that the page was asked to run; the first result counts',
    answers: ['error'],
  },
};

/** What the server sends unprompted. */
const pushes = {
  state: 'The session has changed state',
  warning: 'The session will end soon, or a daily total is close to its ceiling',
  call: 'The call of a brokered session is open, its agent is speaking or listening, or it is over; frames with `state` only to sockets that asked for the call',
  speech: 'Somebody began or stopped speaking; only to sockets that asked for the call, like the next three frames',
  transcript: 'What is said: the whole text of an item so far, at most eight frames a second',
  thinking: 'A server tool is running and the agent is waiting for it, or none is running any more',
  tool: 'Asks the page to run one of its tools, within 30 seconds',
  ended: `The session is over; the socket then closes with ${closeCode.sessionOver}`,
  error: 'A frame that could not be understood, or a server fault; the third bad frame closes the socket',
} as const satisfies Partial<Record<ServerFrameName, string>>;

/** What operators are sent, and when (docs/contract.md, section 8.1). */
const told: Readonly<Record<keyof typeof feedFrames, string>> = {
  hello: 'The first frame, once the watcher is known',
  tick: 'The state of the service, every two seconds; topic counts',
  sessions: 'Changes of sessions, at most four times a second; topic sessions',
  event: 'An event of the followed session, sent at once',
  refusals: 'Refused requests, at most once a second; topic refusals',
  node: 'A process reported its state, or is gone; topic nodes, for those who may see the installation',
  audit: 'An operator’s action, once it is done; topic audit',
  gap: 'Frames were dropped: fetch the data again',
};

const feedCloseCodes = Object.entries(feedCloseCode)
  .map(([name, code]) => `${code} ${name}`)
  .join('; ');

const closeCodes = (Object.keys(closeCode) as (keyof typeof closeCode)[])
  .map((name) => `${closeCode[name]} ${closeMeanings[name]}`)
  .join('; ');

/** The AsyncAPI 3.0 document of the heartbeat channel and the operators' feed, generated from the schemas that parse the frames. */
export function describeChannel({ serverUrl, path, subprotocol }: ChannelAddress, version: string): object {
  const { host, protocol } = new URL(serverUrl);
  const messages = {
    ...messagesOf('client', clientFrames),
    ...messagesOf('server', serverFrames),
  };
  const feedMessages = { ...messagesOf('operator', { watch: watchFrame }), ...messagesOf('feed', feedFrames) };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Switchboard heartbeat channel',
      version,
      description: 'A voice session held over a WebSocket. HTTP is described in /openapi.json.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { node: { host, protocol: protocol === 'https:' ? 'wss' : 'ws' } },
    channels: {
      heartbeat: {
        address: path,
        title: 'Heartbeat channel',
        description: `Subprotocol ${subprotocol}. JSON text frames of at most 4 KiB, or 20 KiB on a socket that asked for the call. One socket serves one session; both sides ignore unknown fields. Close codes: ${closeCodes}.`,
        messages: namesOf(messages),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
      feed: {
        address: FEED_PATH,
        title: 'Feed for operators',
        description: `Subprotocol ${FEED_SUBPROTOCOL}. JSON text frames. Open it with the console cookie from a console origin, or with a service token. Close codes: ${feedCloseCodes}.`,
        messages: namesOf(feedMessages),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      ...Object.fromEntries(
        Object.entries(requests).map(([name, { summary, answers }]) => [
          name,
          {
            action: 'receive',
            summary,
            channel: { $ref: '#/channels/heartbeat' },
            messages: [refer('heartbeat', `client.${name}`)],
            reply: {
              channel: { $ref: '#/channels/heartbeat' },
              messages: answers.map((answer) => refer('heartbeat', `server.${answer}`)),
            },
          },
        ]),
      ),
      ...sentOn('heartbeat', 'push', 'server', pushes),
      watch: {
        action: 'receive',
        summary: 'Choose what to receive from now on, replacing the earlier choice',
        channel: { $ref: '#/channels/feed' },
        messages: [refer('feed', 'operator.watch')],
      },
      ...sentOn('feed', 'tell', 'feed', told),
    },
    components: { messages: { ...messages, ...feedMessages } },
  };
}

type ChannelName = 'heartbeat' | 'feed';

function refer(channel: ChannelName, message: string): object {
  return { $ref: `#/channels/${channel}/messages/${message}` };
}

/** One operation for each frame that the server sends unprompted. */
function sentOn(channel: ChannelName, verb: string, sender: string, frames: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(frames).map(([name, summary]) => [
      `${verb}.${name}`,
      {
        action: 'send',
        summary,
        channel: { $ref: `#/channels/${channel}` },
        messages: [refer(channel, `${sender}.${name}`)],
      },
    ]),
  );
}

/** References to where a channel's messages are described. */
function namesOf(messages: Readonly<Record<string, object>>): Record<string, object> {
  return Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]));
}

/** AsyncAPI's own schema language is JSON Schema draft 7. */
function messagesOf(sender: string, frames: Readonly<Record<string, z.ZodType>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(frames).map(([name, schema]) => {
      const { $schema: _, ...payload } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
      return [`${sender}.${name}`, { name, payload: plainSchemas(payload) }];
    }),
  );
}
