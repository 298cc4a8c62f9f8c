/** The complete lines of a stream, as they come; what is left at its end without a line break is none. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun = '';
  for await (const chunk of chunks) {
    const parts = (begun + chunk.toString('utf8')).split('\n');
    begun = parts.pop() ?? '';
    yield* parts;
  }
}
