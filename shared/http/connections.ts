import type { Server as NodeServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps at most `most` connections open; `takeIn` decides which one closes for a new one. Returns a function that ends
 * all of them, including those whose TLS handshake is not finished, which Node's own function does not know.
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

/** With TLS a request has another socket than its connection, but the same addresses. */
function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The open connections of a port by state, each list in the order in which the connections entered it. */
export interface ConnectionPlaces {
  /** No request has arrived yet; none can arrive before a TLS handshake. */
  readonly waiting: Map<string, Socket>;
  readonly answering: Map<string, Socket>;
  /** Kept alive after a response. */
  readonly idle: Map<string, Socket>;
}

function placesOf({ waiting, answering, idle }: ConnectionPlaces): readonly Map<string, Socket>[] {
  return [waiting, answering, idle];
}

export function emptyPlaces(): ConnectionPlaces {
  return { waiting: new Map(), answering: new Map(), idle: new Map() };
}

/**
 * Adds a new connection and returns the one to close for it if `most` are open: the oldest one without a request, else
 * the one that has been idle longest, else the new one. So idle connections cannot block a port, and no response is cut
 * off.
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
  // The caller may already have a new connection from the same port.
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

/** Answers requests. An express app is such a listener. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Once connections are no longer kept, each response says so. Nothing here is allocated per request. */
export function answerWith(server: NodeServer, handler: Handler, keeping: { readonly isKept: boolean }): void {
  server.on('request', (request, response) => {
    response.on('finish', endUnreadRequest);
    if (!keeping.isKept || !server.listening) response.shouldKeepAlive = false;
    handler(request, response);
  });
}

/** A request that was answered before its body had arrived (too large, not wanted) ends its connection. */
function endUnreadRequest(this: ServerResponse): void {
  if (isLeftUnread(this.req)) linger(this.req.socket);
}

/** Long enough for a caller that is still writing. */
const LINGER_MS = 5_000;
/** With more, other callers could not connect. */
const MAX_LINGERING = 32;
/** In insertion order: the oldest is closed first. */
const lingering = new Set<Socket>();

/**
 * Ends a connection whose request was not read to the end: stops reading, and gives the caller a moment to read the
 * response. Closing at once would reset the connection, and the reset would overtake the response. If too many
 * connections linger, the oldest is closed.
 */
export function linger(socket: Socket): void {
  if (lingering.has(socket)) return;
  socket.pause();
  // Once a request is answered, Node continues to read a body that no handler has started to read.
  setImmediate(() => socket.pause());
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  lingering.add(socket);
  socket.once('close', () => lingering.delete(socket));
  const [first] = lingering;
  if (first === undefined || lingering.size <= MAX_LINGERING) return;
  lingering.delete(first);
  first.destroy();
}

/** Requests whose bodies are read to the end although they were answered earlier. */
const readOn = new WeakSet<IncomingMessage>();

/** Marks a body that is read to the end, even if only to drop it: its connection can continue after the response. */
export function keepReading(request: IncomingMessage): void {
  readOn.add(request);
}

/** Whether a request was answered before its body had arrived, and the rest of the body stays unread. */
function isLeftUnread(request: IncomingMessage): boolean {
  return !request.complete && !readOn.has(request);
}

/**
 * Call it before writing a response: if the request is not read to the end, no other request can follow on the
 * connection, and the response says so. Node's own way (`destroySoon`) would close at once.
 */
export function endIfUnread(response: ServerResponse): void {
  if (!isLeftUnread(response.req)) return;
  const { socket } = response.req;
  response.shouldKeepAlive = false;
  socket.destroySoon = () => linger(socket);
}

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Invalid HTTP gets a bare 4xx instead of a reset, and no input is echoed. */
export function refuseBrokenRequests(server: NodeServer, keepAliveMs: number): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    if (error.code === REQUEST_TIMEOUT && socket.bytesRead === 0) {
      keepSpare(socket, keepAliveMs);
      return;
    }
    const line = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : lineOf(error.code);
    socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
}

/** No answer can be sent before the handshake is over: it would stay queued and keep the connection open. */
export function endHandshake(_: Error, socket: Socket): void {
  socket.destroy();
}

/**
 * Node expects a request on each new connection, but Go opens spare ones while all others are busy, and may send the
 * first request on one up to 90 s later. If the connection closes at that moment, a POST fails, and Go does not retry
 * it.
 */
function keepSpare(socket: Socket, keepAliveMs: number): void {
  const endUnused = (): void => {
    if (socket.bytesRead === 0) socket.destroy();
  };
  const end = setTimeout(endUnused, keepAliveMs).unref();
  socket.once('close', () => clearTimeout(end));
}

function lineOf(code: string | undefined): string {
  return code === REQUEST_TIMEOUT ? '408 Request Timeout' : '400 Bad Request';
}
