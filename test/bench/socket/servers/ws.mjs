// The `ws` library alone: parses JSON and sends it back.
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 4096 });
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    if (Buffer.isBuffer(data)) socket.send(JSON.stringify(JSON.parse(data.toString())));
  });
});
server.on('listening', () => console.log(`http://127.0.0.1:${server.address().port}`));
