import type { Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';

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

/** The open connections of a port by what they do, each list in the order in which they came to do it. */
export interface ConnectionPlaces {
  /** No request has arrived yet; before a TLS handshake it cannot. */
  readonly waiting: Map<string, Socket>;
  readonly answering: Map<string, Socket>;
  /** Kept alive after an answer. */
  readonly idle: Map<string, Socket>;
}

export function emptyPlaces(): ConnectionPlaces {
  return { waiting: new Map(), answering: new Map(), idle: new Map() };
}

/**
 * Takes a new connection in, and returns the one to close for it where `most` are open: the oldest without a request,
 * else the one that has been idle for longest, else the new one. So idle connections cannot block a port, and no
 * answer is cut off.
 */
export function takeIn(
  { waiting, answering, idle }: ConnectionPlaces,
  [key, socket]: readonly [string, Socket],
  most: number,
): Socket | undefined {
  const isFull = waiting.size + answering.size + idle.size >= most;
  const leaving = isFull ? (removeFirst(waiting) ?? removeFirst(idle) ?? socket) : undefined;
  if (leaving !== socket) waiting.set(key, socket);
  return leaving;
}

/** A request has arrived. */
export function beginAnswer({ waiting, answering, idle }: ConnectionPlaces, key: string): void {
  move(waiting, answering, key);
  move(idle, answering, key);
}

export function endAnswer({ answering, idle }: ConnectionPlaces, key: string): void {
  move(answering, idle, key);
}

/** The connection is closed. */
export function release(places: ConnectionPlaces, [key, socket]: readonly [string, Socket]): void {
  // By then its caller may have the same port again.
  for (const place of Object.values<Map<string, Socket>>({ ...places }))
    if (place.get(key) === socket) place.delete(key);
}

function move(from: Map<string, Socket>, to: Map<string, Socket>, key: string): void {
  const socket = from.get(key);
  if (socket === undefined) return;
  from.delete(key);
  to.set(key, socket);
}

function removeFirst(place: Map<string, Socket>): Socket | undefined {
  const [first] = place;
  if (first === undefined) return undefined;
  place.delete(first[0]);
  return first[1];
}
