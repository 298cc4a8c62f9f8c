import { createInterface } from 'node:readline';

/** The first line that a process says. Rejects when it ends without one. */
export async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('the process ended without a word');
}
