import { OversizedLineError } from './json-lines.ts';

const HEAD_BYTES = 4;

/**
 * Cuts the byte stream of a watch into its frames, whatever the chunks are: four bytes of length, most significant first,
 * before each. A last frame that is not whole is dropped. Throws OversizedLineError before more than `largestFrame` bytes
 * are held. `k8s.io/apimachinery/pkg/util/framer`.
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
  /** What is not handed out yet; joined once a whole frame is there, so that no byte is copied twice. */
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
