import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A recorded case: its input and its answer in one object. */
export type Vector = Readonly<Record<string, unknown>>;

/** All recorded cases of a kind, from `test/vectors/KIND.ndjson.gz`. */
export function readVectors(kind: string): readonly Vector[] {
  const packed = readFileSync(new URL(`../vectors/${kind}.ndjson.gz`, import.meta.url));
  const lines = gunzipSync(packed).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Vector);
}

/** The case without its answer. */
export function withoutAnswer(vector: Vector, answerFields: readonly string[]): Vector {
  return Object.fromEntries(Object.entries(vector).filter(([field]) => !answerFields.includes(field)));
}
