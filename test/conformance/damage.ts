import fc from 'fast-check';
import type { Kind } from './kinds.ts';
import { type Vector, withoutAnswer } from './read-vectors.ts';

/** One place of a case and what it is replaced with. */
interface Damage {
  /** Which turn to take at each level on the way down. */
  readonly path: readonly number[];
  readonly value: unknown;
}

const values = [undefined, null, '', 'x', '1e999', '-1', '%', 0, -1, 0.5, 1e300, true, [], {}, [null], { a: {} }];

const damages = fc.array(
  fc.record<Damage>({
    path: fc.array(fc.nat(20), { minLength: 1, maxLength: 9 }),
    value: fc.constantFrom<unknown>(...values),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Recorded cases of a kind, each with up to four places replaced by something else. */
export function damagedCases(vectors: readonly Vector[], kind: Kind): fc.Arbitrary<unknown> {
  return fc.tuple(fc.constantFrom(...vectors), damages).map(([vector, faults]) => {
    return faults.reduce<unknown>(damage, withoutAnswer(vector, kind.answerFields));
  });
}

/** The message with which a case is refused, empty if it is answered. */
export function refusalOf(kind: Kind, vector: unknown): string {
  try {
    kind.answer(vector);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : 'something else was thrown';
  }
}

/** A copy with one place replaced; the path wraps around and ends early where there is nothing below. */
function damage(json: unknown, { path, value }: Damage): unknown {
  const [turn, ...rest] = path;
  const isLeaf = typeof json !== 'object' || json === null || Object.keys(json).length === 0;
  if (turn === undefined || isLeaf) return value;
  const keys = Object.keys(json);
  const key = keys[turn % keys.length] ?? '';
  const changed = damage((json as Vector)[key], { path: rest, value });
  if (Array.isArray(json)) return json.map((item: unknown, index) => (String(index) === key ? changed : item));
  return { ...json, [key]: changed };
}
