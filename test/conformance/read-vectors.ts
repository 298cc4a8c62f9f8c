import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A recorded case: its input and its answer in one object. */
export type Vector = Readonly<Record<string, unknown>>;

/** All recorded cases of a kind, from `test/vectors/KIND.ndjson.gz`, or from a version's folder in it. */
export function readVectors(kind: string, folder = '.'): readonly Vector[] {
  const packed = readFileSync(new URL(`../vectors/${folder}/${kind}.ndjson.gz`, import.meta.url));
  const lines = gunzipSync(packed).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Vector);
}

/** The case without its answer; `steps.want` is the field `want` of every item of the list `steps`. */
export function withoutAnswer(vector: Vector, answerFields: readonly string[]): Vector {
  const kept = Object.entries(vector).filter(([field]) => !answerFields.includes(field));
  return Object.fromEntries(
    kept.map(([field, value]) => [field, withoutInner(value, innerFields(field, answerFields))]),
  );
}

function innerFields(field: string, answerFields: readonly string[]): readonly string[] {
  return answerFields.filter((path) => path.startsWith(`${field}.`)).map((path) => path.slice(field.length + 1));
}

function withoutInner(value: unknown, fields: readonly string[]): unknown {
  if (fields.length === 0 || !Array.isArray(value)) return value;
  return value.map((item: unknown) => (isVector(item) ? withoutAnswer(item, fields) : item));
}

function isVector(value: unknown): value is Vector {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
