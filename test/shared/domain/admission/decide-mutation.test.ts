import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import type { PodChange } from '#shared/domain/admission/decision.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import { resolvePriority } from '#shared/domain/priority/classes-and-policies.ts';
import { buildClass, buildPolicy, buildRequest, buildWorld, type WorldFields } from '#test/build/admission.ts';

const PREEMPT = 'PreemptLowerPriority';
const NOWHERE = { written: undefined, isEmpty: false, requirements: [], matches: () => false };
const CLASSES = [
  buildClass('high', 1_000),
  buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
  buildClass('standard', 100),
  buildClass('batch', -5),
];
const DEFAULTED = CLASSES.map((each) => (each.name === 'standard' ? { ...each, isGlobalDefault: true } : each));
const STANDARD = { priorityClassName: 'standard', priority: 100, preemptionPolicy: PREEMPT };
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: PREEMPT };

interface Case {
  readonly spec?: Partial<PodRequest['pod']['spec']>;
  readonly request?: Partial<PodRequest>;
  readonly cluster?: WorldFields;
  readonly change: PodChange | undefined;
  readonly code: string;
}

describe('decideMutation', () => {
  const accepted: Record<string, Case> = {
    'fills number and policy of a named class': {
      spec: { priorityClassName: 'high' },
      change: HIGH,
      code: 'PriorityAccepted',
    },
    'gives the scheduler of a policy': {
      spec: HIGH,
      cluster: { policies: [buildPolicy('p', { schedulerName: 'plimsoll' })] },
      change: { ...HIGH, schedulerName: 'plimsoll' },
      code: 'PriorityAccepted',
    },
    'gives the scheduler of the first policy by name': {
      spec: HIGH,
      cluster: {
        policies: [buildPolicy('q', { schedulerName: 'other' }), buildPolicy('p', { schedulerName: 'mine' })],
      },
      change: { ...HIGH, schedulerName: 'mine' },
      code: 'PriorityAccepted',
    },
    'keeps the scheduler that a pod names': {
      spec: HIGH,
      request: { schedulerName: 'own' },
      cluster: { policies: [buildPolicy('p', { schedulerName: 'plimsoll' })] },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'gives no scheduler to a pod that is on a node': {
      spec: { ...HIGH, nodeName: 'n0' },
      cluster: { policies: [buildPolicy('p', { schedulerName: 'plimsoll' })] },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'gives no scheduler where the policy names the default one': {
      spec: HIGH,
      cluster: { policies: [buildPolicy('p', { schedulerName: 'default-scheduler' })] },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'gives no scheduler by a policy for other namespaces': {
      spec: HIGH,
      cluster: { policies: [buildPolicy('p', { schedulerName: 'plimsoll', namespaces: NOWHERE })] },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'leaves a complete pod alone': { spec: HIGH, change: undefined, code: 'PriorityAccepted' },
    'gives no class, priority 0, where nothing says otherwise': {
      change: { priorityClassName: '', priority: 0, preemptionPolicy: PREEMPT },
      code: 'PriorityAccepted',
    },
    'gives the global default': { cluster: { classes: DEFAULTED }, change: STANDARD, code: 'PriorityAccepted' },
    'lets the policy’s default win over the global default that the API server filled in': {
      spec: STANDARD,
      request: { classNamedBy: 'default' },
      cluster: { classes: DEFAULTED, policies: [buildPolicy('p', { defaultClassName: 'batch' })] },
      change: { priorityClassName: 'batch', priority: -5, preemptionPolicy: PREEMPT },
      code: 'PriorityFromPolicy',
    },
    'keeps the global default that a person named': {
      spec: STANDARD,
      request: { classNamedBy: 'person' },
      cluster: { classes: DEFAULTED, policies: [buildPolicy('p', { defaultClassName: 'batch' })] },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'takes the lowest class of several policies with a default': {
      cluster: {
        policies: [buildPolicy('a', { defaultClassName: 'high' }), buildPolicy('b', { defaultClassName: 'batch' })],
      },
      change: { priorityClassName: 'batch', priority: -5, preemptionPolicy: PREEMPT },
      code: 'PriorityFromPolicy',
    },
    'takes the first by name of classes with the same value': {
      cluster: {
        policies: [
          buildPolicy('a', { defaultClassName: 'high' }),
          buildPolicy('b', { defaultClassName: 'high-never' }),
        ],
      },
      change: HIGH,
      code: 'PriorityFromPolicy',
    },
    'takes the first by name whatever policy comes first': {
      cluster: {
        policies: [
          buildPolicy('a', { defaultClassName: 'high-never' }),
          buildPolicy('b', { defaultClassName: 'high' }),
        ],
      },
      change: HIGH,
      code: 'PriorityFromPolicy',
    },
    'leaves a class that preempts where the policy allows preemption, whatever its substitutes': {
      spec: HIGH,
      cluster: {
        policies: [buildPolicy('p', { preemption: 'Allow', substitutes: new Map([['high', 'high-never']]) })],
      },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'leaves a class that never preempts, whatever its substitutes': {
      spec: { priorityClassName: 'high-never', priority: 1_000, preemptionPolicy: 'Never' },
      cluster: {
        classes: [...CLASSES, buildClass('low-never', 1, { preemptionPolicy: 'Never' })],
        policies: [buildPolicy('p', { preemption: 'Never', substitutes: new Map([['high-never', 'low-never']]) })],
      },
      change: undefined,
      code: 'PriorityAccepted',
    },
    'passes over a policy whose default class does not exist': {
      cluster: { policies: [buildPolicy('a', { defaultClassName: 'gone' })] },
      change: { priorityClassName: '', priority: 0, preemptionPolicy: PREEMPT },
      code: 'PriorityAccepted',
    },
    'puts the substitute in the place of a class that preempts': {
      spec: HIGH,
      cluster: {
        policies: [buildPolicy('p', { preemption: 'Never', substitutes: new Map([['high', 'high-never']]) })],
      },
      change: { priorityClassName: 'high-never', priority: 1_000, preemptionPolicy: 'Never' },
      code: 'PrioritySubstituted',
    },
    'does not take a substitute that preempts itself': {
      spec: HIGH,
      cluster: { policies: [buildPolicy('p', { preemption: 'Never', substitutes: new Map([['high', 'standard']]) })] },
      change: undefined,
      code: 'PriorityAccepted',
    },
  };
  test.each(Object.entries(accepted))('%s', (_, { spec, request, cluster, change, code }) => {
    const decision = decideMutation(buildRequest(spec, request), buildWorld({ classes: CLASSES, ...cluster }));
    expect(decision).toMatchObject({ kind: 'allowed', change, because: { code } });
  });

  test('gives the lowest of several global defaults, with a warning', () => {
    const classes = [...DEFAULTED, buildClass('a-default', 5_000, { isGlobalDefault: true })];
    expect(decideMutation(buildRequest(), buildWorld({ classes }))).toMatchObject({
      kind: 'allowed',
      change: STANDARD,
      warnings: [
        'several priority classes are the global default (`a-default`, `standard`): the lowest, `standard`, counts',
      ],
    });
    expect(decideMutation(buildRequest(HIGH), buildWorld({ classes }))).toMatchObject({ warnings: [] });
  });

  const refused: Record<string, { spec: Partial<PodRequest['pod']['spec']>; code: string; text: string }> = {
    'an unknown class': {
      spec: { priorityClassName: 'gold' },
      code: 'UnknownPriorityClass',
      text: 'pods "web" is forbidden: no PriorityClass with name gold was found',
    },
    'a number that is not the class’s': {
      spec: { priorityClassName: 'high', priority: 5 },
      code: 'PriorityMismatch',
      text:
        'pods "web" is forbidden: the integer value of priority (5) must not be provided in pod spec; ' +
        'priority admission controller computed 1000 from the given PriorityClass name',
    },
    'a policy that is not the class’s': {
      spec: { priorityClassName: 'high', preemptionPolicy: 'Never' },
      code: 'PriorityMismatch',
      text:
        'pods "web" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; ' +
        'priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    },
  };
  test.each(Object.entries(refused))('refuses %s', (_, { spec, code, text }) => {
    const decision = decideMutation(buildRequest(spec), buildWorld({ classes: CLASSES }));
    expect(decision).toMatchObject({ kind: 'refused', code: 403, because: { code, text } });
  });

  const names = fc.constantFrom(...CLASSES.map(({ name }) => name));
  const policies = fc.array(
    fc.record({
      defaultClassName: fc.option(names, { nil: undefined }),
      preemption: fc.constantFrom('Allow' as const, 'Never' as const),
      substitutes: fc.array(fc.tuple(names, names)).map((pairs) => new Map(pairs)),
    }),
    { maxLength: 3 },
  );
  const requests = fc.record({
    named: fc.option(names, { nil: undefined }),
    classNamedBy: fc.constantFrom('person' as const, 'default' as const, 'unknown' as const),
    isDefaulted: fc.boolean(),
  });

  test('mutating twice is mutating once, and the API server agrees with the result', () => {
    fc.assert(
      fc.property(requests, policies, ({ named, classNamedBy, isDefaulted }, drawn) => {
        const cluster = buildWorld({
          classes: isDefaulted ? DEFAULTED : CLASSES,
          policies: drawn.map((fields, index) => buildPolicy(`p${index}`, fields)),
        });
        const request = buildRequest({ priorityClassName: named }, { classNamedBy });
        const first = decideMutation(request, cluster);
        if (first.kind === 'refused') throw new Error(first.because.text);
        const { priorityClassName, classRule, ...rest } = first.change ?? { priorityClassName: named ?? '' };
        const spec = {
          ...request.pod.spec,
          ...rest,
          priorityClassName: priorityClassName === '' ? undefined : priorityClassName,
        };
        const recordedRule = classRule === '' ? undefined : classRule;
        const changed = { ...request, recordedRule, pod: { ...request.pod, spec } };
        expect(decideMutation(changed, cluster)).toMatchObject({ kind: 'allowed', change: undefined });
        expect(resolvePriority(changed.pod, cluster.classes)).toMatchObject({ kind: 'resolved' });
      }),
      { numRuns: 2_000 },
    );
  });

  const amounts = fc.record({
    requests: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('0', '1', '2'), { maxKeys: 2 }),
  });

  test('what a pod asks for, and so its QoS class, changes nothing about its priority', () => {
    fc.assert(
      fc.property(requests, policies, amounts, ({ named, classNamedBy, isDefaulted }, drawn, fields) => {
        const cluster = buildWorld({
          classes: isDefaulted ? DEFAULTED : CLASSES,
          policies: drawn.map((each, index) => buildPolicy(`p${index}`, each)),
        });
        const spec = { priorityClassName: named };
        const plain = decideMutation(buildRequest(spec, { classNamedBy }), cluster);
        expect(decideMutation(buildRequest(spec, { classNamedBy }, fields), cluster)).toEqual(plain);
      }),
      { numRuns: 500 },
    );
  });
});
