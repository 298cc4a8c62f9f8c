/** Thrown for a line that is longer than any object the API server may hold. */
export class OversizedLineError extends Error {
  override readonly name = 'OversizedLineError';
}

const NEWLINE = 0x0a;

/**
 * Cuts a byte stream at its newlines, whatever the chunks are. A last line without newline is an interrupted
 * one and is dropped. Throws OversizedLineError before more than `largestLine` bytes are held.
 */
export async function* splitLines(bytes: AsyncIterable<Buffer>, largestLine: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldSize = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      assertSize(heldSize + piece.length, largestLine);
      yield heldSize === 0 ? piece : Buffer.concat([...held, piece]);
      held = [];
      heldSize = 0;
      from = end + 1;
    }
    heldSize += chunk.length - from;
    assertSize(heldSize, largestLine);
    held.push(chunk.subarray(from));
  }
}

function assertSize(size: number, largest: number): void {
  if (size > largest) throw new OversizedLineError(`a line is longer than ${largest} bytes`);
}
