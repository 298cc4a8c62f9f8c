import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'tooLarge'; readonly limitBytes: number }
  /** The process holds as many bytes of bodies as it may. */
  | { readonly kind: 'overloaded' }
  /** The caller went away before the body was complete. */
  | { readonly kind: 'aborted' };

export interface BodyLimits {
  readonly maxBytes: number;
  /** Shared by all requests of a process; without it only `maxBytes` counts. */
  readonly allowance?: BodyAllowance;
}

/** How many bytes of bodies a process may hold at once. */
export interface BodyAllowance {
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export const DEFAULT_BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** An allowance of `total` bytes. */
export function createBodyAllowance(total: number): BodyAllowance {
  let held = 0;
  return {
    take: (bytes) => {
      if (held + bytes > total) return false;
      held += bytes;
      return true;
    },
    giveBack: (bytes) => void (held -= bytes),
  };
}

const UNLIMITED: BodyAllowance = createBodyAllowance(Number.POSITIVE_INFINITY);

/** Reads a whole body while counting: stops at the limit whatever Content-Length says. Never rejects. */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
  return new Promise((resolve) => collectBody(request, limits, resolve));
}

/** `readBody` for hot paths: calls back exactly once, without a promise in between. */
export function collectBody(
  request: IncomingMessage,
  { maxBytes, allowance = UNLIMITED }: BodyLimits,
  done: (body: Body) => void,
): void {
  const tooLarge: Body = { kind: 'tooLarge', limitBytes: maxBytes };
  if (Number(request.headers['content-length']) > maxBytes) {
    done(tooLarge);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let isDone = false;
  const finish = (body: Body): void => {
    if (isDone) return;
    isDone = true;
    allowance.giveBack(size);
    // The request, and with it this, may outlive its answer: a connection lingers when not everything was read.
    chunks.length = 0;
    done(body);
  };
  const keep = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
  };
  request.on('data', (chunk: Buffer) => {
    if (isDone) return;
    if (size + chunk.length > maxBytes) finish(tooLarge);
    else if (!allowance.take(chunk.length)) finish({ kind: 'overloaded' });
    else keep(chunk);
  });
  request.on('end', () => finish({ kind: 'body', bytes: joined(chunks, size) }));
  // Follows upon every error too, which Node emits only where somebody listens for it.
  request.on('close', () => finish({ kind: 'aborted' }));
}

/** Most bodies come in one piece, which need not be copied. */
function joined(chunks: readonly Buffer[], size: number): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size);
}
