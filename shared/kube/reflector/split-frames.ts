const HEAD_BYTES = 4;

/**
 * Splits the byte stream of a watch into its frames, whatever the chunks are. A length of four bytes, most significant
 * first, precedes each frame. An incomplete last frame is dropped. Throws OversizedLineError before it holds more than
 * `largestFrame` bytes. `k8s.io/apimachinery/pkg/util/framer`.
 */
export async function* splitFrames(bytes: AsyncIterable<Buffer>, largestFrame: number): AsyncGenerator<Buffer> {
  const frames = new FrameSplit(largestFrame);
  for await (const chunk of bytes) {
    frames.push(chunk);
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) yield frame;
  }
}

class FrameSplit {
  readonly #largestFrame: number;
  /** Bytes not passed on yet; joined once a frame is complete, so that no byte is copied twice. */
  #held: Buffer[] = [];
  #heldSize = 0;
  #needed = HEAD_BYTES;

  constructor(largestFrame: number) {
    this.#largestFrame = largestFrame;
  }

  push(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldSize += chunk.length;
  }

  next(): Buffer | undefined {
    if (this.#heldSize < this.#needed) return undefined;
    const bytes = this.#joined();
    this.#needed = HEAD_BYTES + bytes.readUInt32BE();
    if (this.#needed - HEAD_BYTES > this.#largestFrame)
      throw new OversizedLineError(`a frame is longer than ${this.#largestFrame} bytes`);
    return bytes.length < this.#needed ? undefined : this.#take(bytes);
  }

  #take(bytes: Buffer): Buffer {
    const frame = bytes.subarray(HEAD_BYTES, this.#needed);
    this.#held = [bytes.subarray(this.#needed)];
    this.#heldSize = bytes.length - this.#needed;
    this.#needed = HEAD_BYTES;
    return frame;
  }

  #joined(): Buffer {
    const [only, second] = this.#held;
    const bytes = only !== undefined && second === undefined ? only : Buffer.concat(this.#held);
    this.#held = [bytes];
    return bytes;
  }
}

/** Thrown for a line that is longer than any object in the API server. */
export class OversizedLineError extends Error {
  override readonly name = 'OversizedLineError';
}

const NEWLINE = 0x0a;

/**
 * Splits a byte stream at its newlines, whatever the chunks are. A last line without a newline is incomplete and is
 * dropped. Throws OversizedLineError before it holds more than `largestLine` bytes.
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
