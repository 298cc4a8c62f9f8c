import { connect, createServer, type Server } from 'node:net';

/** Listens on loopback and passes each connection to the next of these ports, as a Service does with its endpoints. */
export function roundRobin(port: number, targets: readonly number[]): Server {
  let turn = 0;
  return createServer({ noDelay: true }, (socket) => {
    const to = connect(targets[(turn += 1) % targets.length] ?? 0, '127.0.0.1').setNoDelay(true);
    for (const each of [socket, to]) each.on('error', () => [socket, to].forEach((end) => end.destroy()));
    socket.pipe(to).pipe(socket);
  }).listen(port, '127.0.0.1');
}
