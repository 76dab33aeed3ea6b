// How a heartbeat is said and answered by each kind of server.
import { textFrame } from './frames.mjs';

const told = '{"type":"heartbeat","idleSec":0,"id":123456}';

/** JSON in a text frame. */
const plain = {
  path: '/api/realtime/socket',
  protocol: 'switchboard.v1',
  heartbeat: textFrame(told),
  answer: Buffer.from('{"type":"heartbeat"'),
  /** Frames to send before the first heartbeat: none where no session is held. */
  greetings: (session) =>
    session === undefined ? [] : [textFrame(JSON.stringify({ type: 'attach', sm_session_id: session }))],
  /** Text frames that come before the first heartbeat may be sent. */
  welcomes: (session) => (session === undefined ? 0 : 1),
  pings: undefined,
};

/** Engine.IO 4 and Socket.IO 5: connect to the default namespace, then an event that asks for an acknowledgement. */
const socketIo = {
  path: '/socket.io/?EIO=4&transport=websocket',
  protocol: undefined,
  heartbeat: textFrame(`421["heartbeat",${told}]`),
  answer: Buffer.from('431[{"type":"heartbeat"'),
  greetings: () => [textFrame('40')],
  /** Its handshake, and that of the namespace. */
  welcomes: () => 2,
  /** Its pings are text frames. */
  pings: { ping: '2', pong: textFrame('3') },
};

export const dialects = { plain, 'socket.io': socketIo };
