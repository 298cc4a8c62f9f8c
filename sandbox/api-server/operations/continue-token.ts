import { Buffer } from 'node:buffer';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { isFields } from '#sandbox/api-server/wire/object.ts';

/** Where a list goes on. Clients treat the token as opaque text. */
export interface Continuation {
  /** The moment the list shows; -1 goes on with what is there now. */
  readonly number: number;
  readonly start: string;
}

export function encodeContinue({ number, start }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: 'plimsoll.dev/v1', rv: number, start })).toString('base64url');
}

/** Throws 400 for a token that is not ours. */
export function decodeContinue(token: string): Continuation {
  const value = parse(token);
  if (isFields(value) && Number.isInteger(value['rv']) && typeof value['start'] === 'string') {
    return { number: value['rv'] as number, start: value['start'] };
  }
  throw badRequest('invalid continue token: continue key is not valid');
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
}
