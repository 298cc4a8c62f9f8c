import { describe, expect, test } from 'vitest';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { type PodRequest, withPriority } from '#shared/domain/admission/request.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityPolicy, ClassRule } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePodRequest, decodeTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import { ALICE, buildClass, buildPolicy, buildRequest, buildWorld } from '#test/build/admission.ts';
import { selectorOf } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';
import { WORKLOAD_KINDS } from '#test/webhook/support/workloads.ts';

const CLASSES = [
  buildClass('high', 1_000),
  buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
  buildClass('standard', 100),
  buildClass('batch', -5),
];

function rule(name: string, className: string, more: Partial<ClassRule> = {}): ClassRule {
  return { name, className, pods: prepareSelector(selectorOf({})), ownerKinds: [], ...more };
}

const DAEMONS = rule('daemons', 'high', { ownerKinds: ['DaemonSet', 'StatefulSet'] });
const FRONT = rule('front', 'standard', { pods: prepareSelector(selectorOf({ role: 'front' })) });
const TENANTS = { defaultClassName: 'batch', classRules: [DAEMONS, FRONT] };
const GOLD = { namespaces: prepareSelector(selectorOf({ tier: 'gold' })) };

interface Case {
  readonly policies?: readonly Partial<PriorityPolicy>[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly named?: string;
  readonly recorded?: string;
}

function situation({ policies = [TENANTS], labels = {}, owner, named, recorded }: Case) {
  const request = buildRequest({ priorityClassName: named }, { ownerKind: owner, recordedRule: recorded }, { labels });
  const built = policies.map((fields, index) => buildPolicy(`p${index}`, fields));
  return { request, cluster: buildWorld({ classes: CLASSES, policies: built, labels: { tier: 'gold' } }) };
}

/** The class that the pod ends up with, and the rule that it then names. */
function given(chosen: Case): readonly [className: string | undefined, rule: string | undefined] {
  const { request, cluster } = situation(chosen);
  const decision = decideMutation(request, cluster);
  if (decision.kind === 'refused') throw new Error(decision.because.text);
  const { priorityClassName = chosen.named, classRule = chosen.recorded } = decision.change ?? {};
  return [priorityClassName, classRule === '' ? undefined : classRule];
}

describe('the class of a pod by rule, and the rule that is recorded (S3-9)', () => {
  test.each<[string, Case, string | undefined, string | undefined]>([
    ['by the kind of its owner', { owner: 'DaemonSet' }, 'high', 'p0/daemons'],
    ['by its labels', { labels: { role: 'front' } }, 'standard', 'p0/front'],
    ['by the first of two rules', { owner: 'StatefulSet', labels: { role: 'front' } }, 'high', 'p0/daemons'],
    ['by the default where no rule takes it', { owner: 'Job', labels: { role: 'back' } }, 'batch', 'p0'],
    ['by the user, whatever the rules say', { owner: 'DaemonSet', named: 'standard' }, 'standard', undefined],
    [
      'by the labels of its namespace',
      { policies: [{ ...GOLD, classRules: [FRONT] }], labels: { role: 'front' } },
      'standard',
      'p0/front',
    ],
    [
      'by no rule of a policy for other namespaces',
      { policies: [{ ...TENANTS, namespaces: prepareSelector(selectorOf({ tier: 'silver' })) }], owner: 'DaemonSet' },
      '',
      undefined,
    ],
    [
      'by a rule that needs both, only with both',
      { policies: [{ classRules: [{ ...FRONT, ownerKinds: ['Job'] }] }], labels: { role: 'front' } },
      '',
      undefined,
    ],
    [
      'by the next rule where a class does not exist',
      {
        policies: [{ classRules: [rule('gone', 'gone', { ownerKinds: ['Job'] }), FRONT] }],
        owner: 'Job',
        labels: { role: 'front' },
      },
      'standard',
      'p0/front',
    ],
    [
      'by the policy that gives the lowest class',
      { policies: [TENANTS, { classRules: [FRONT] }], owner: 'DaemonSet', labels: { role: 'front' } },
      'standard',
      'p1/front',
    ],
    [
      'by the first by name of two policies that give the same',
      { policies: [{ defaultClassName: 'standard' }, { classRules: [FRONT] }], labels: { role: 'front' } },
      'standard',
      'p0',
    ],
    [
      'by a rule, also where a substitute stands in for its class',
      {
        policies: [{ ...TENANTS, preemption: 'Never', substitutes: new Map([['high', 'high-never']]) }],
        owner: 'DaemonSet',
      },
      'high-never',
      'p0/daemons',
    ],
  ])('%s', (_, chosen, className, recorded) => {
    expect(given(chosen)).toEqual([className, recorded]);
  });

  test('the reason names the rule', () => {
    const { request, cluster } = situation({ owner: 'DaemonSet' });
    expect(decideMutation(request, cluster).because).toMatchObject({
      text: 'priority class `high` (1000) is given by rule `p0/daemons`',
      facts: { priorityClassName: 'high', rule: 'p0/daemons' },
    });
  });
});

describe('a record that a person wrote', () => {
  test.each<[string, Case, string | undefined]>([
    [
      'stays where the rule gives this class: the API server may have written it',
      { named: 'batch', recorded: 'p0' },
      'p0',
    ],
    ['goes where another rule does', { named: 'batch', recorded: 'p0/daemons' }, undefined],
    ['goes where the pod has another class', { named: 'high', recorded: 'p0' }, undefined],
    ['goes where no policy gives a class', { policies: [], named: 'high', recorded: 'p0' }, undefined],
    ['is replaced where the rules give the class', { owner: 'DaemonSet', recorded: 'p0/front' }, 'p0/daemons'],
  ])('%s', (_, chosen, recorded) => {
    expect(given(chosen)[1]).toBe(recorded);
  });
});

describe('an owner that a tenant made up', () => {
  const claims: Case = { owner: 'DaemonSet' };

  /** What becomes of a pod that the rules gave its class. */
  function refusalOf(limits: Partial<PriorityPolicy>, chosen: Case): string | undefined {
    const { request, cluster } = situation({ ...chosen, policies: [TENANTS, limits] });
    const mutation = decideMutation(request, cluster);
    if (mutation.kind === 'refused') return mutation.because.text;
    const pod = mutation.change === undefined ? request.pod : withPriority(request.pod, mutation.change);
    const decision = decideValidation({ ...request, pod }, cluster);
    return decision.kind === 'refused' ? decision.because.text : undefined;
  }

  test.each<[string, Partial<PriorityPolicy>]>([
    ['a ceiling', { maxPriority: 500 }],
    ['a list', { allowedClassNames: ['standard', 'batch'] }],
    ['no preemption', { preemption: 'Never' }],
  ])('gains no class that it may not name: %s', (_, limits) => {
    const byRule = refusalOf(limits, claims);
    expect(byRule).toMatch(/^policy `p1` /);
    expect(refusalOf(limits, { named: 'high' })).toBe(byRule);
  });

  test('a pod with more owners than anyone needs has none', () => {
    const owners = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'd',
        uid: `u${index}`,
        controller: index === 0,
      }));
    const kinds = [100, 101].map((count) => {
      const pod = { metadata: { name: 'web', ownerReferences: owners(count) }, spec: { containers: [] } };
      return valueOf(decodePodRequest(pod, ALICE, 'team-a')).ownerKind;
    });
    expect(kinds).toEqual(['DaemonSet', undefined]);
  });
});

test('the pods of a template will be owned by what its controller creates', () => {
  const kinds = WORKLOAD_KINDS.map(({ kind, build }) => {
    const template = decodeTemplate(build('web', { containers: [] }), ALICE, 'team-a');
    return [kind, template && valueOf<PodRequest>(template).ownerKind];
  });
  expect(Object.fromEntries(kinds)).toEqual({
    Deployment: 'ReplicaSet',
    StatefulSet: 'StatefulSet',
    DaemonSet: 'DaemonSet',
    ReplicaSet: 'ReplicaSet',
    ReplicationController: 'ReplicationController',
    Job: 'Job',
    CronJob: 'Job',
  });
});
