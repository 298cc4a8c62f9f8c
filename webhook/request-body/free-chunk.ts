/**
 * Frees the memory of a piece of a body that has been copied or is not wanted: until garbage is collected, pieces would
 * take many times the body. Only memory that is the piece's own: small pieces share it with others.
 */
export function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
