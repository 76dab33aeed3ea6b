// How a heartbeat is said and answered over a socket by each kind of server. Texts are payloads of text frames.
import { upgradeRequest } from './frames.mjs';

const told = '{"type":"heartbeat","idleSec":0,"id":123456}';

const plain = {
  upgrade: (port) => upgradeRequest(port, '/api/realtime/socket', 'switchboard.v1'),
  beat: told,
  /** What an answer begins with. */
  answer: '{"type":"heartbeat"',
  /** Sent first, by one socket after the other. */
  greetings: (sessions = []) => sessions.map((session) => JSON.stringify({ type: 'attach', sm_session_id: session })),
  /** Text frames that come before the first heartbeat may be sent. */
  welcomes: (sessions = []) => (sessions.length > 0 ? 1 : 0),
};

/** Engine.IO 4 and Socket.IO 5: connect to the default namespace, then an event that asks for an acknowledgement. */
const socketIo = {
  upgrade: (port) => upgradeRequest(port, '/socket.io/?EIO=4&transport=websocket'),
  beat: `421["heartbeat",${told}]`,
  answer: '431[{"type":"heartbeat"',
  greetings: () => ['40'],
  /** Its handshake, and that of the namespace. */
  welcomes: () => 2,
  /** Its pings are text frames. */
  ping: '2',
  pong: '3',
};

export const dialects = { plain, 'socket.io': socketIo };
