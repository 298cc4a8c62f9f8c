import type { IncomingMessage } from 'node:http';
import { freeChunk } from './free-chunk.ts';

/** Takes a body piece by piece. */
export interface BodySink {
  piece(bytes: Buffer): void;
  end(): void;
  /** The caller went away before the body was complete. */
  gone(): void;
}

/** Frees what comes. */
export const DROPPED: BodySink = { piece: freeChunk, end: () => undefined, gone: () => undefined };

/** A body on its way, which one sink after the other can take. */
export interface IncomingBody {
  /** As announced; NaN where it was not. */
  readonly announcedBytes: number;
  /** So far. */
  readonly receivedBytes: number;
  into(sink: BodySink): void;
  /** Leaves the rest with the sender for now. */
  pause(): void;
  resume(): void;
}

/** Begins to read a request. */
export function incomingBody(request: IncomingMessage, first: BodySink): IncomingBody {
  let sink = first;
  let receivedBytes = 0;
  request.on('data', (bytes: Buffer) => {
    receivedBytes += bytes.length;
    sink.piece(bytes);
  });
  request.on('end', () => sink.end());
  // Follows upon every end and every error.
  request.on('close', () => sink.gone());
  // What had ended before anybody listened tells nothing any more.
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
