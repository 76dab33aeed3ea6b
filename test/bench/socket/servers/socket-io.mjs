// socket.io alone, over WebSockets only: acknowledges each event with the data it carried.
import { createServer } from 'node:http';
import { Server } from 'socket.io';

const http = createServer();
const server = new Server(http, { transports: ['websocket'], serveClient: false, maxHttpBufferSize: 4096 });
server.on('connection', (socket) => {
  socket.on('heartbeat', (told, answer) => answer(told));
});
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}`));
