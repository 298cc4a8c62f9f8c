import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { defaultClass, type PriorityClass, resolvePriority } from '#shared/domain/priority/classes-and-policies.ts';
import { keepPriority } from '#sandbox/api-server/admission/keep-priority.ts';
import { validateNewClass } from '#sandbox/api-server/admission/validate-class.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { isPriorityKept } from '#test/conformance/kinds/is-priority-kept.ts';
import { byName, required } from '#test/conformance/required.ts';

type Fields = Readonly<Record<string, unknown>>;

interface SeedCase {
  readonly name: string;
  readonly given?: { readonly classes?: readonly Fields[]; readonly pod?: Fields };
  readonly when: Fields | string;
  readonly then: Fields;
}

interface Seed {
  readonly given?: { readonly classes?: readonly Fields[]; readonly pod?: Fields };
  readonly cases: readonly SeedCase[];
  readonly then: readonly Fields[];
}

function readSeed(id: string): Seed {
  return JSON.parse(readFileSync(new URL(`../../../vectors/seeds/${id}.json`, import.meta.url), 'utf8')) as Seed;
}

function classOf({ name = 'new', value, globalDefault = false }: Fields): PriorityClass {
  return required(decodePriorityClass({ metadata: { name }, value, globalDefault }));
}

function podOf(spec: Fields) {
  return required(decodePod({ metadata: { name: 'nginx' }, spec }));
}

/** What a pod gets, in the words of the seeds. */
function outcomeOf(spec: Fields, classes: readonly Fields[]) {
  const outcome = resolvePriority(podOf(spec), byName(classes.map(classOf)));
  return outcome.kind === 'resolved' ? { allowed: true, ...outcome } : { allowed: false, ...outcome };
}

describe('resolvePriority, by the seeds', () => {
  const s11 = readSeed('s1-11');
  test.each(s11.cases.map((each) => [each.name, each] as const))('S1-11: %s', (_, { when, then }) => {
    const { message = '', ...others } = then;
    const outcome = outcomeOf(when as Fields, s11.given?.classes ?? []);
    expect(outcome).toMatchObject(others);
    expect('message' in outcome ? outcome.message : '').toContain(message);
  });

  const created = readSeed('s1-5').cases.filter(({ given }) => given?.pod === undefined);
  test.each(created.map((each) => [each.name, each] as const))('S1-5: %s', (_, { given, when, then }) => {
    expect(outcomeOf(when as Fields, given?.classes ?? [])).toMatchObject(then);
  });

  test('S1-5: existing pod when a default appears', () => {
    const pod = podOf({ priority: 0 });
    expect(keepPriority(podOf({}), pod).priority).toBe(0);
  });

  test('S1-8: deleting a class leaves its pods and blocks new ones', () => {
    const { given, then } = readSeed('s1-8');
    const old = podOf(given?.pod ?? {});
    const kept = keepPriority(old, old);
    expect([kept.priority, isPriorityKept(kept, old)]).toEqual([(then[0]?.['pod'] as Fields)['priority'], true]);
    const { message, ...others } = then[1] ?? {};
    const refused = outcomeOf({ priorityClassName: 'gone' }, []);
    expect(refused).toMatchObject({ allowed: others['allowed'], code: others['code'] });
    expect('message' in refused ? refused.message : '').toContain(message);
  });
});

describe('validateNewClass, by the seeds', () => {
  test.each(readSeed('s1-4').cases.map((each) => [each.name, each] as const))('S1-4: %s', (_, { when, then }) => {
    const { value } = when as Fields;
    const decoded = decodePriorityClass({ metadata: { name: 'new' }, value });
    const isAccepted = decoded.ok && validateNewClass(decoded.value, new Map()).kind === 'accepted';
    expect(isAccepted).toBe(then['accepted']);
  });
});

describe('defaultClass', () => {
  test('of several with one value the first by name counts, in whatever order they come', () => {
    const classes = ['b', 'a', 'c'].map((name) => classOf({ name, value: 7, globalDefault: true }));
    expect([classes, classes.toReversed()].map((each) => defaultClass(byName(each))?.name)).toEqual(['a', 'a']);
  });
});

describe('isPriorityKept', () => {
  const old = { priorityClassName: 'high', priority: 5, preemptionPolicy: 'Never' };
  test.each([
    ['what is left out is filled in', old, {}, false],
    ['left-out number and policy are filled in', old, { priorityClassName: 'high' }, true],
    ['nothing changed', old, old, true],
    ['another class', old, { ...old, priorityClassName: 'low' }, false],
    ['another number', old, { ...old, priority: 6 }, false],
    ['another policy', old, { ...old, preemptionPolicy: 'PreemptLowerPriority' }, false],
    ['a policy that is none, though it was so', { ...old, preemptionPolicy: 'Maybe' }, {}, false],
    ['a number where there was none', {}, { priority: 0 }, false],
    ['never any', {}, {}, true],
  ])('%s', (_, before, after, expected) => {
    const oldPod = podOf(before);
    expect(isPriorityKept(keepPriority(podOf(after), oldPod), oldPod)).toBe(expected);
  });
});
