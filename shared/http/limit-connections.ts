import type { Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';

/** Keeps at most `most` connections open; which one closes for a new one is decided by `takeIn`. */
export function limitConnections(server: NodeServer, most: number): void {
  const connections: Connections = new Map();
  /** By the socket of their requests, so that a request need not be looked up by address. */
  const known = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const key = callerOf(socket);
    socket.once('close', () => release(connections, key, socket));
    takeIn(connections, [key, socket], most)?.destroy();
  });
  server.on('request', ({ socket }, response) => {
    const connection = known.get(socket) ?? connections.get(callerOf(socket));
    if (connection === undefined) return;
    known.set(socket, connection);
    connection.state = 'answering';
    response.once('close', () => becomeIdle(connection));
  });
}

/** With TLS a request has another socket than its connection, with the same addresses. */
function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** An open connection. Requests change it in place: moving it between collections would cost each of them garbage. */
export interface Connection {
  readonly socket: Socket;
  /** `waiting`: no request has arrived yet; before a TLS handshake it cannot. `idle`: kept alive after an answer. */
  state: 'waiting' | 'answering' | 'idle';
  /** Grows with each answer of the process: which one became idle first. */
  idleSince: number;
}

/** By the address of the caller, the oldest first. */
export type Connections = Map<string, Connection>;

let answers = 0;

/** Its request has been answered. */
export function becomeIdle(connection: Connection): void {
  answers += 1;
  connection.state = 'idle';
  connection.idleSince = answers;
}

/**
 * Takes a new connection in, and returns the one to close for it where `most` are open: the oldest without a request,
 * else the one that has been idle for longest, else the new one. So idle connections cannot block a port, and no
 * answer is cut off.
 */
export function takeIn(
  connections: Connections,
  [key, socket]: readonly [string, Socket],
  most: number,
): Socket | undefined {
  if (connections.size >= most) {
    const leaving = firstToLeave(connections);
    if (leaving === undefined) return socket;
    connections.delete(leaving[0]);
    connections.set(key, { socket, state: 'waiting', idleSince: 0 });
    return leaving[1].socket;
  }
  connections.set(key, { socket, state: 'waiting', idleSince: 0 });
  return undefined;
}

/** Only looked for where the port is full. */
function firstToLeave(connections: Connections): readonly [string, Connection] | undefined {
  let longestIdle: readonly [string, Connection] | undefined;
  for (const entry of connections) {
    const [, { state, idleSince }] = entry;
    if (state === 'waiting') return entry;
    if (state === 'idle' && idleSince < (longestIdle?.[1].idleSince ?? Infinity)) longestIdle = entry;
  }
  return longestIdle;
}

/** The connection is closed. By then its caller may have the same port again. */
export function release(connections: Connections, key: string, socket: Socket): void {
  if (connections.get(key)?.socket === socket) connections.delete(key);
}
