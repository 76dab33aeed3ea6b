// One hostile connection, for as long as this process runs, to the given port and in the given way. It reconnects when it is
// disconnected.
import net from 'node:net';

const [, , port, way, request] = process.argv;
const head = (length) =>
  `POST /api/realtime/heartbeat HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://localhost:${port}\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n`;
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const many = (text) => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));

/** Each way gets a connected socket. */
const ways = {
  'pipelined heartbeats': (socket) => flood(socket, many(request)),
  'pipelined requests of the largest page': (socket) => flood(socket, many(get('/docs'))),
  'pipelined requests of the largest page, answers not read': (socket) => {
    socket.pause();
    flood(socket, many(get('/docs')));
  },
  'pipelined requests that are refused': (socket) => flood(socket, many(`${head(2).replace('/api/', '/API/')}{}`)),
  'a body in single bytes': (socket) => {
    socket.write(head(4000));
    const timer = setInterval(() => socket.write(' '), 1);
    socket.on('close', () => clearInterval(timer));
  },
  'bodies of the largest size': (socket) => flood(socket, Buffer.from(head(16_000) + 'x'.repeat(16_000))),
};

/** Sends as much as the socket takes. */
function flood(socket, bytes) {
  const send = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', send);
  send();
}

function open() {
  const socket = net.connect({ port: Number(port), host: '127.0.0.1' });
  socket.on('connect', () => ways[way](socket));
  socket.on('data', () => undefined);
  socket.on('error', () => undefined);
  // Waits a little: reconnecting at once would measure how fast connections are refused.
  socket.on('close', () => setTimeout(open, 10));
}

if (way === undefined) console.log(JSON.stringify(Object.keys(ways)));
else open();
