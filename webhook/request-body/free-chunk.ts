/**
 * Frees the memory of a body chunk that was copied or dropped: until the next garbage collection, chunks would take
 * many times the size of the body. Does nothing for small chunks, which share their memory with others.
 */
export function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
