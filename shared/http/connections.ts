import type { Server as NodeServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps at most `most` connections open; which one closes for a new one is decided by `takeIn`. The function that it
 * returns ends all of them, also those that have not finished their TLS handshake, which Node's own does not know.
 */
export function limitConnections(server: NodeServer, most: number): () => void {
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
  return () => {
    for (const place of placesOf(places)) for (const socket of place.values()) socket.destroy();
  };
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

function placesOf({ waiting, answering, idle }: ConnectionPlaces): readonly Map<string, Socket>[] {
  return [waiting, answering, idle];
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
  for (const place of placesOf(places)) if (place.get(key) === socket) place.delete(key);
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

/** Long enough for a caller that is busy still writing. */
const LINGER_MS = 5_000;
/** More would keep others from being connected at all. */
const MAX_LINGERING = 32;
/** In insertion order: the oldest is closed first. */
const lingering = new Set<Socket>();

/**
 * Ends a connection of which not everything was read: no more is read, and the caller gets a moment to read the answer.
 * Closing at once would reset the connection under it, and the reset overtakes the answer. Of many such connections in
 * a process the one that had most time is closed.
 */
export function linger(socket: Socket): void {
  if (lingering.has(socket)) return;
  socket.pause();
  // Node goes on reading a body that no handler has begun to read, as soon as its request has been answered.
  setImmediate(() => socket.pause());
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  lingering.add(socket);
  socket.once('close', () => lingering.delete(socket));
  const [first] = lingering;
  if (first === undefined || lingering.size <= MAX_LINGERING) return;
  lingering.delete(first);
  first.destroy();
}

/** Requests whose bodies are read to the end although they were answered before. */
const readOn = new WeakSet<IncomingMessage>();

/** Says that the rest of a body is being read, if only to drop it: its connection can go on after the answer. */
export function keepReading(request: IncomingMessage): void {
  readOn.add(request);
}

/** Whether a request was answered before its body had arrived, and the rest is left with the sender. */
export function isLeftUnread(request: IncomingMessage): boolean {
  return !request.complete && !readOn.has(request);
}

/**
 * To be called before an answer is written: if its request is not read to the end, no other can follow on the connection,
 * and the answer says so. What Node does then (`destroySoon`) would close at once.
 */
export function endIfUnread(response: ServerResponse): void {
  if (!isLeftUnread(response.req)) return;
  const { socket } = response.req;
  response.shouldKeepAlive = false;
  socket.destroySoon = () => linger(socket);
}
