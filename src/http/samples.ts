import { sessionIdExample } from '../protocol/fields.ts';
import type { SessionView } from '../protocol/session.ts';
import type { Usage } from '../protocol/usage.ts';

/** Values that the examples of the interface description share. */
export const sample = {
  sm_session_id: sessionIdExample,
  email: 'ada@example.com',
  requestId: 'req_AMumvXlM6',
  session: {
    active: true,
    startedAt: '2030-01-01T12:00:00.000Z',
    lastSeenAt: '2030-01-01T12:01:30.000Z',
    durationSec: 90,
    idleSec: 0,
  } satisfies SessionView,
  heartbeat: {
    intervalSec: 45,
    url: 'https://voice.example.com/api/realtime/heartbeat',
    socketUrl: 'wss://voice.example.com/api/realtime/socket',
  },
  limits: { maxMinutes: 15, maxIdleSec: 300 },
  usage: {
    tokens: 1200,
    dollars: 0.02,
    dailyTokenLimit: 300_000,
    dailyDollarLimit: 20,
    resetAt: '2030-01-02T00:00:00.000Z',
  } satisfies Usage,
} as const;

const lines = (...text: readonly string[]): string => text.map((line) => `${line}\r\n`).join('');

/** The shortest offer of a browser's kind, for the interface description. */
export const exampleOffer = lines(
  'v=0',
  'o=- 4611731400430051336 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'c=IN IP4 0.0.0.0',
  'a=mid:0',
  'a=sendrecv',
  'a=rtpmap:111 opus/48000/2',
);

export const exampleAnswer = exampleOffer.replace('4611731400430051336 2', '7614219274584779017 2');
