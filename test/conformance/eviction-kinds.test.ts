import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answer as answerEpisode } from './kinds/episodes.ts';
import { answer as answerEvictable } from './kinds/evictable.ts';
import { answer as answerKubeletPreemption } from './kinds/kubelet-preemption.ts';
import { answer as answerRanking } from './kinds/ranking.ts';
import { answer as answerThresholds } from './kinds/thresholds.ts';
import type { Vector } from './read-vectors.ts';
import { readVectors, withoutAnswer } from './read-vectors.ts';

interface Kind {
  readonly name: string;
  readonly answer: (vector: unknown) => unknown;
  readonly answerFields: readonly string[];
  /** Puts what was recorded and what was given side by side, in a form in which right answers are equal. */
  readonly compare: (recorded: Vector, given: Vector) => readonly [recorded: unknown, given: unknown];
}

/** What one pass did about pressure; the recorded one or any of its alternatives is right, as a whole. */
const ACTION = ['evicted', 'gracePeriodOverride', 'evictMessage', 'annotations', 'reclaiming', 'nodeReclaim'];

const KINDS: readonly Kind[] = [
  { name: 'ranking', answer: answerRanking, answerFields: ['want'], compare: compareFields(['want']) },
  {
    name: 'evictable',
    answer: answerEvictable,
    answerFields: ['critical', 'static', 'mirror'],
    compare: compareFields(['critical', 'static', 'mirror']),
  },
  { name: 'thresholds', answer: answerThresholds, answerFields: ['ok', 'errors', 'want'], compare: compareThresholds },
  { name: 'episodes', answer: answerEpisode, answerFields: [], compare: compareEpisodes },
  {
    name: 'kubelet-preemption',
    answer: answerKubeletPreemption,
    answerFields: ['want', 'error'],
    compare: compareFields(['want', 'error']),
  },
];

function pick(vector: Vector, fields: readonly string[]): Vector {
  return Object.fromEntries(fields.map((field) => [field, vector[field] ?? null]));
}

function compareFields(fields: readonly string[]): Kind['compare'] {
  return (recorded, given) => [pick(recorded, fields), pick(given, fields)];
}

/** Which of several mistakes Kubernetes reports is random: the first given must be one of them. */
function compareThresholds(recorded: Vector, given: Vector): readonly [unknown, unknown] {
  const possible = (recorded['errors'] ?? []) as readonly string[];
  const [first = 'no mistake'] = (given['errors'] ?? []) as readonly string[];
  const isOneOfThem = possible.length === 0 || possible.includes(first);
  return [
    { ...pick(recorded, ['ok', 'want']), mistakes: isOneOfThem ? first : possible },
    { ...pick(given, ['ok', 'want']), mistakes: first },
  ];
}

function compareEpisodes(recorded: Vector, given: Vector): readonly [unknown, unknown] {
  const wants = ({ steps }: Vector) => (steps as readonly { readonly want: Vector }[]).map(({ want }) => want);
  const givenWants = wants(given);
  const right = wants(recorded).map((want, index) => rightAnswer(want, givenWants[index] ?? {}));
  return [right, givenWants];
}

/** The recorded step with that of its alternatives that was given, if any was. */
function rightAnswer({ alternatives, ...want }: Vector, given: Vector): Vector {
  const others = (alternatives ?? []) as readonly Vector[];
  const chosen = others.find((other) => isDeepStrictEqual(pick(other, ACTION), pick(given, ACTION)));
  return chosen === undefined ? want : { ...withoutAnswer(want, ACTION), ...chosen };
}

function inputOf({ answerFields }: Kind, vector: Vector): Vector {
  return withoutAnswer(vector, answerFields);
}

describe.each(KINDS)('$name', (kind) => {
  const vectors = readVectors(kind.name);

  test('every recorded answer is given', () => {
    expect(vectors.length).toBeGreaterThan(0);
    const mismatches = vectors.flatMap((vector, index) => {
      const given = JSON.parse(JSON.stringify(kind.answer(inputOf(kind, vector)))) as Vector;
      const [expected, got] = kind.compare(vector, given);
      return isDeepStrictEqual(expected, got) ? [] : [{ index, case: vector, expected, got }];
    });
    expect(mismatches).toEqual([]);
  });

  test('a damaged case is answered or refused by the name of a field', () => {
    fc.assert(
      fc.property(fc.constantFrom(...vectors), damages, (vector, faults) => {
        const damaged = faults.reduce<unknown>(damage, inputOf(kind, vector));
        expect(refusalOf(kind, damaged)).toMatch(/^$|^cannot read the case: /);
      }),
      { numRuns: 1000 },
    );
  });
});

function refusalOf({ answer }: Kind, vector: unknown): string {
  try {
    answer(vector);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : 'something else was thrown';
  }
}

interface Damage {
  /** Which turn to take at each level on the way down. */
  readonly path: readonly number[];
  readonly value: unknown;
}

const damages = fc.array(
  fc.record<Damage>({
    path: fc.array(fc.nat(20), { minLength: 1, maxLength: 9 }),
    value: fc.constantFrom<unknown>(
      undefined,
      null,
      '',
      'x',
      '1e999',
      '-1',
      '%',
      0,
      -1,
      0.5,
      1e300,
      true,
      [],
      {},
      [null],
      { a: {} },
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

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
