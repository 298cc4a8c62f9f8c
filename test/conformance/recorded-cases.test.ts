import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { computePodsAs } from '#shared/kube/decode/pod-arithmetic.ts';
import { compareAnswers } from './compare-answers.ts';
import { type Kind, KINDS } from './kinds.ts';
import { readVectors, type Vector, withoutAnswer } from './read-vectors.ts';

/** `preemption` is a second name. */
const recorded = [...KINDS].filter(([name]) => name !== 'preemption');

describe.each(recorded)('%s', (name, kind) => {
  test('every recorded answer is given', () => expect(mismatches(name, kind, readVectors(name))).toEqual([]));
});

/** The kinds whose answers differ, and those whose code is new. */
const ASKED_OF_1_37 = ['podusage', 'qos', 'quotacheck', 'quotascope', 'requests', 'preemption-fit', 'preemption-full'];

describe.each(recorded.filter(([name]) => ASKED_OF_1_37.includes(name)))('%s of Kubernetes 1.37.2', (name, kind) => {
  afterEach(() => computePodsAs('v1.36.3'));

  test('every recorded answer is given', () => {
    computePodsAs('v1.37.2');
    expect(mismatches(name, kind, readVectors(name, '1.37'))).toEqual([]);
  });
});

test('a pod that is resized requests otherwise in 1.37 than in 1.36', () => {
  const kind = KINDS.get('requests');
  expect(kind && mismatches('requests', kind, readVectors('requests', '1.37'))).not.toEqual([]);
});

/** The first cases with another answer. */
function mismatches(name: string, kind: Kind, vectors: readonly Vector[]): readonly object[] {
  expect(vectors.length).toBeGreaterThan(0);
  const all = vectors.flatMap((vector, index) => {
    const answer = kind.answer(withoutAnswer(vector, kind.answerFields));
    const [expected, got] = compareAnswers(name, vector, JSON.parse(JSON.stringify(answer)) as typeof vector);
    return isDeepStrictEqual(expected, got) ? [] : [{ index, case: vector, expected, got }];
  });
  return all.slice(0, 3);
}
