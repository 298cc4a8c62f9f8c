/** All bytes of a stream. Rejects if there are more than `mostBytes`; `what` is the subject of the error message. */
export async function readBytes(
  stream: AsyncIterable<Uint8Array>,
  mostBytes: number,
  what = 'the answer',
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > mostBytes) throw new Error(`${what} is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * `node:http` without its ES module facade. Importing it by name reads every lazy export once, which loads the
 * WebSocket client behind `http.WebSocket`: 7 MiB of resident memory in a process that never opens one.
 */
export const nodeHttp = process.getBuiltinModule('node:http');
