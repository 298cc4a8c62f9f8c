import { StringDecoder } from 'node:string_decoder';

const PIECE_BYTES = 256 * 1024;

/** The JSON value of a body that has been scanned; `undefined` where it is no JSON. What is no UTF-8 becomes U+FFFD, as for Go. */
export function parseBody(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(textOf(bytes)) as unknown };
  } catch {
    return undefined;
  }
}

/** In pieces: a text of a MiB or more is kept outside V8's heap, where the limit of the heap collects no garbage. */
function textOf(bytes: Buffer): string {
  if (bytes.length <= PIECE_BYTES) return bytes.toString('utf8');
  const decoder = new StringDecoder('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) text += decoder.write(bytes.subarray(at, at + PIECE_BYTES));
  return text + decoder.end();
}

/** What the values of a body may take in memory at most: texts with two bytes a character, and what is read out of them. */
export function parsedBytes(length: number, values: number): number {
  return length * 4 + values * 160;
}
