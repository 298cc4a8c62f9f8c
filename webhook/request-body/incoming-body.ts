import type { IncomingMessage } from 'node:http';
import { freeChunk } from './free-chunk.ts';

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
  /** So far. */
  readonly receivedBytes: number;
  into(sink: BodySink): void;
  /** Stops reading for now. */
  pause(): void;
  resume(): void;
}

/** Starts reading a request. */
export function incomingBody(request: IncomingMessage, first: BodySink): IncomingBody {
  let sink = first;
  let receivedBytes = 0;
  request.on('data', (bytes: Buffer) => {
    receivedBytes += bytes.length;
    sink.piece(bytes);
  });
  request.on('end', () => sink.end());
  // Emitted after every end and every error.
  request.on('close', () => sink.gone());
  // A request that was destroyed before the listeners were added emits nothing.
  if (request.destroyed) process.nextTick(() => sink.gone());
  return {
    announcedBytes: Number(request.headers['content-length'] ?? Number.NaN),
    get receivedBytes() {
      return receivedBytes;
    },
    into: (next) => void (sink = next),
    pause: () => void request.pause(),
    resume: () => void request.resume(),
  };
}
