import type { IncomingMessage } from 'node:http';

/**
 * Frees the memory of a body chunk that was copied or dropped: until the next garbage collection, chunks would take
 * many times the size of the body. Does nothing for small chunks, which share their memory with others.
 */
export function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Receives a body chunk by chunk. */
export interface BodySink {
  piece(bytes: Buffer): void;
  end(): void;
  /** The client disconnected before the body was complete. */
  gone(): void;
}

/** Frees all chunks. */
export const DROPPED: BodySink = { piece: freeChunk, end: () => undefined, gone: () => undefined };

/** A body that is arriving; its sink can be replaced. */
export interface IncomingBody {
  /** From Content-Length; NaN if it is missing. */
  readonly announcedBytes: number;
  /** Bytes received so far. */
  readonly receivedBytes: number;
  into(sink: BodySink): void;
  /** Stops reading for now. */
  pause(): void;
  resume(): void;
}

/** Starts reading a request. */
export function incomingBody(request: IncomingMessage, first: BodySink): IncomingBody {
  const body = new RequestBody(request, first);
  request.on('data', (bytes: Buffer) => body.receive(bytes));
  request.on('end', () => body.sink.end());
  // Emitted after every end and every error.
  request.on('close', () => body.sink.gone());
  // A request that was destroyed before the listeners were added emits nothing.
  if (request.destroyed) process.nextTick(() => body.sink.gone());
  return body;
}

/** A class: an object literal with a getter costs V8 a hidden class for each request. */
class RequestBody implements IncomingBody {
  readonly announcedBytes: number;
  receivedBytes = 0;
  sink: BodySink;
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage, sink: BodySink) {
    this.announcedBytes = Number(request.headers['content-length'] ?? Number.NaN);
    this.sink = sink;
    this.#request = request;
  }

  receive(bytes: Buffer): void {
    this.receivedBytes += bytes.length;
    this.sink.piece(bytes);
  }

  into(next: BodySink): void {
    this.sink = next;
  }

  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }
}
