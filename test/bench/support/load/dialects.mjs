// How each kind of server expects and answers a heartbeat over a socket. Texts are payloads of text frames.
import { upgradeRequest } from './frames.mjs';

const told = '{"type":"heartbeat","idleSec":0,"id":123456}';

const plain = {
  upgrade: (port) => upgradeRequest(port, '/api/realtime/socket', 'switchboard.v1'),
  beat: told,
  /** The beginning of an answer. */
  answer: '{"type":"heartbeat"',
  /** Sent first: each socket sends the next one. */
  greetings: (sessions = []) => sessions.map((session) => JSON.stringify({ type: 'attach', sm_session_id: session })),
  /** How many text frames must arrive before the first heartbeat may be sent. */
  welcomes: (sessions = []) => (sessions.length > 0 ? 1 : 0),
};

/** Engine.IO 4 and Socket.IO 5: connect to the default namespace, then an event that asks for an acknowledgement. */
const socketIo = {
  upgrade: (port) => upgradeRequest(port, '/socket.io/?EIO=4&transport=websocket'),
  beat: `421["heartbeat",${told}]`,
  answer: '431[{"type":"heartbeat"',
  greetings: () => ['40'],
  /** Two handshakes: Engine.IO's and the namespace's. */
  welcomes: () => 2,
  /** Engine.IO's pings are text frames. */
  ping: '2',
  pong: '3',
};

export const dialects = { plain, 'socket.io': socketIo };
