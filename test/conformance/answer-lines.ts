import type { Answering } from './kinds.ts';
import { withoutAnswer } from './read-vectors.ts';

const NEWLINE = '\n';

/**
 * The answers to NDJSON cases, a text of whole lines for each piece of input that completes some. One line out for one
 * line in, an empty one included; what cannot be answered is `{"failed":"why"}`.
 */
export async function* answerLines(input: AsyncIterable<string>, kind: Answering): AsyncGenerator<string> {
  let unfinished: string[] = [];
  for await (const piece of input) {
    const end = piece.lastIndexOf(NEWLINE);
    if (end < 0) {
      unfinished.push(piece);
      continue;
    }
    unfinished.push(piece.slice(0, end));
    yield answerAll(unfinished.join(''), kind);
    unfinished = [piece.slice(end + 1)];
  }
  const last = unfinished.join('');
  if (last !== '') yield answerAll(last, kind);
}

function answerAll(lines: string, kind: Answering): string {
  return lines
    .split(NEWLINE)
    .map((line) => answerLine(line, kind) + NEWLINE)
    .join('');
}

function answerLine(line: string, kind: Answering): string {
  try {
    return JSON.stringify(kind.answer(stripped(JSON.parse(line), kind)));
  } catch (error) {
    return JSON.stringify({ failed: error instanceof Error ? error.message : String(error) });
  }
}

/** The case without its answers, so that none can leak into what is computed. */
function stripped(vector: unknown, { answerFields }: Answering): unknown {
  const isObject = typeof vector === 'object' && vector !== null && !Array.isArray(vector);
  return isObject ? withoutAnswer(vector as Readonly<Record<string, unknown>>, answerFields) : vector;
}
