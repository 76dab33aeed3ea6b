// Requests that arrive together: over connections that are open already, written in one turn of the event loop.
import { once } from 'node:events';
import net from 'node:net';

/** Opens connections. @returns `send(requests)`, which resolves once each connection's request was answered, and `stop()` */
export async function openBurst(port, count) {
  const sockets = Array.from({ length: count }, () => net.connect({ port, host: '127.0.0.1', noDelay: true }));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return {
    send: (requests) => Promise.all(sockets.map((socket, n) => exchange(socket, requests[n]))),
    stop: () => sockets.forEach((socket) => socket.destroy()),
  };
}

/** @throws Error for a reply other than 200 */
async function exchange(socket, request) {
  socket.write(request);
  let text = '';
  while (!isWhole(text)) {
    const [chunk] = await once(socket, 'data');
    text += chunk.toString('latin1');
  }
  if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(text);
}

function isWhole(text) {
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  if (headEnd < 4) return false;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  return text.length >= headEnd + Number(length);
}
