import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  /** The body is incomplete; its beginning may show what it is. */
  | { readonly kind: 'tooLarge'; readonly limitBytes: number; readonly beginning: Buffer }
  /** The process holds the maximum bytes of bodies. */
  | { readonly kind: 'overloaded' }
  /** The caller disconnected before the body was complete. */
  | { readonly kind: 'aborted' };

export interface BodyLimits {
  readonly maxBytes: number;
  /** Shared by all requests of a process; without it only `maxBytes` applies. */
  readonly allowance?: BodyAllowance;
}

/** How many bytes of bodies a process may hold at once. */
export interface BodyAllowance {
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

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

/**
 * Reads a whole body and counts its bytes: stops at the limit whatever Content-Length says, and at once if
 * Content-Length exceeds the limit. Never rejects.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
  return new Promise((resolve) => collectBody(request, limits, resolve));
}

/** `readBody` for hot paths: calls back exactly once, without a promise. */
export function collectBody(
  request: IncomingMessage,
  { maxBytes, allowance = UNLIMITED }: BodyLimits,
  done: (body: Body) => void,
): void {
  // A request that ended before a listener was added emits nothing.
  if (request.destroyed) {
    done({ kind: 'aborted' });
    return;
  }
  const mostBytes = Number(request.headers['content-length']) > maxBytes ? 0 : maxBytes;
  const pieces: Buffer[] = [];
  let size = 0;
  let isDone = false;
  const finish = (body: Body): void => {
    if (isDone) return;
    isDone = true;
    allowance.giveBack(size);
    // The request, and with it this closure, may outlive its response: an unread connection lingers.
    pieces.length = 0;
    done(body);
  };
  const keep = (chunk: Buffer): void => {
    size += chunk.length;
    pieces.push(chunk);
  };
  request.on('data', (chunk: Buffer) => {
    if (isDone) return;
    if (size + chunk.length > mostBytes)
      finish({ kind: 'tooLarge', limitBytes: maxBytes, beginning: pieces[0] ?? chunk });
    else if (!allowance.take(chunk.length)) finish({ kind: 'overloaded' });
    else keep(chunk);
  });
  request.on('end', () => finish({ kind: 'body', bytes: whole(pieces) }));
  // 'close' also follows every error, which Node emits only if a listener is registered.
  request.on('close', () => finish({ kind: 'aborted' }));
}

/** Most bodies come in one piece and need no copy. */
function whole(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}
