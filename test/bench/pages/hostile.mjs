// One connection that does harm for as long as this process runs, to the port that it is told, in the way that it is told. It connects again
// when it is thrown out.
import net from 'node:net';

const [, , port, way, request] = process.argv;
const head = (length) =>
  `POST /api/realtime/heartbeat HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://localhost:${port}\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n`;
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const many = (text) => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));

/** Each gets a socket that is connected; `again` is told when it takes more. */
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

/** As much as the socket takes. */
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
  // Not at once: who is refused at every try would measure how fast connections are refused.
  socket.on('close', () => setTimeout(open, 10));
}

if (way === undefined) console.log(JSON.stringify(Object.keys(ways)));
else open();
