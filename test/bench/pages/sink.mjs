// Accepts connections and throws away what they send.
import net from 'node:net';

const server = net.createServer((socket) => socket.on('error', () => undefined).resume());
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
