import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Long enough for a caller that is busy still writing. */
const LINGER_MS = 5_000;
/** More would keep others from being connected at all. */
const MOST_LINGERING = 32;
/** The first came first. */
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
  if (first === undefined || lingering.size <= MOST_LINGERING) return;
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
