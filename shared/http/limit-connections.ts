import type { Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';
import { beginAnswer, emptyPlaces, endAnswer, release, takeIn } from './connection-places.ts';

/** Keeps at most `most` connections open; which one closes for a new one is decided by `takeIn`. */
export function limitConnections(server: NodeServer, most: number): void {
  const places = emptyPlaces();
  server.on('connection', (socket: Socket) => {
    const entry = [callerOf(socket), socket] as const;
    socket.once('close', () => release(places, entry));
    takeIn(places, entry, most)?.destroy();
  });
  server.on('request', ({ socket }, response) => {
    const key = callerOf(socket);
    beginAnswer(places, key);
    response.once('close', () => endAnswer(places, key));
  });
}

/** With TLS a request has another socket than its connection, with the same addresses. */
function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
