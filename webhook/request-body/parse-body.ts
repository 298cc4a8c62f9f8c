import { StringDecoder } from 'node:string_decoder';

const PIECE_BYTES = 256 * 1024;

/** The JSON value of a scanned body; `undefined` if it is not valid JSON. Invalid UTF-8 becomes U+FFFD, as in Go. */
export function parseBody(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(textOf(bytes)) as unknown };
  } catch {
    return undefined;
  }
}

/**
 * Decodes in pieces: V8 keeps a string of 1 MiB or more outside its heap, where the heap limit triggers no garbage
 * collection.
 */
function textOf(bytes: Buffer): string {
  if (bytes.length <= PIECE_BYTES) return bytes.toString('utf8');
  const decoder = new StringDecoder('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) text += decoder.write(bytes.subarray(at, at + PIECE_BYTES));
  return text + decoder.end();
}

/**
 * Upper bound of the memory that the values of a body take: strings with two bytes per character, and the objects
 * decoded from them.
 */
export function parsedBytes(length: number, values: number): number {
  return length * 4 + values * 160;
}
