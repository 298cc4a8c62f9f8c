import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { celValue, compileExpression, AuthorizerValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { WARNINGS } from '#shared/domain/admission/warnings.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { leftToWebhook, MAX_CLASSES, notElsewhere } from '#shared/kube/admission/left-to-webhook.ts';
import { type PatchOperation, priorityPatch, RECORD_PATH } from '#shared/kube/admission/pod-patches.ts';
import type { MatchCondition } from '#shared/kube/admission/cel-expressions.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { buildClass, buildClassQuota, buildWorld } from '#test/build/admission.ts';
import { buildPod } from '#test/build/cluster.ts';
import {
  NAMESPACE_LABELS,
  policyArbitrary,
  RULE_CLASSES,
  type Written,
  writtenArbitrary,
} from '#test/build/rule-cases.ts';
import { valueOf } from '#test/build/value-of.ts';

const RUNS = 250;
const SEED = 20_261_126;
const PODS = admissionPolicyOf(
  rulePolicies().find(
    ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name === 'priority.plimsoll.dev',
  ) as unknown as KubeObject,
);
const CLASSES = new Map(RULE_CLASSES.map((each) => [each.name, each]));
const NO_CLASS = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };
const CONTROLLER = 'system:serviceaccounts:kube-system';

const namespaceName = (index: number): string => `team-${index}`;

/** What else a pod has; the triple may be one that another webhook has spoilt. */
interface Fields {
  readonly schedulerName: string | undefined;
  readonly nodeName: string | undefined;
  readonly spoilt: { readonly priority?: number; readonly preemptionPolicy?: string };
  readonly isByController: boolean;
}

const fields: fc.Arbitrary<Fields> = fc.record({
  schedulerName: fc.constantFrom(undefined, 'default-scheduler', 'own'),
  nodeName: fc.constantFrom(undefined, undefined, 'node'),
  spoilt: fc.constantFrom({}, {}, {}, { priority: 11 }, { priority: 1_000 }, { preemptionPolicy: 'Never' }),
  isByController: fc.boolean(),
});
const scene = fc.record({
  specs: fc.array(fc.tuple(policyArbitrary(namespaceName), fc.constantFrom(undefined, undefined, undefined, 'other')), {
    maxLength: 6,
  }),
  globalDefault: fc.option(fc.constantFrom(...RULE_CLASSES.map(({ name }) => name)), { nil: undefined }),
  written: fc.array(
    fc.tuple(writtenArbitrary(['Pod'], namespaceName), fields).map(([written, more]) => ({ ...written, ...more })),
    { minLength: 4, maxLength: 4 },
  ),
});

type Pod = Written & Fields;

function podOf(
  { podSpec, metadata, schedulerName, nodeName, spoilt, qosClass }: Pod,
  globalDefault: string | undefined,
) {
  const { priorityClassName = globalDefault } = podSpec;
  const { value, preemptionPolicy } = CLASSES.get(priorityClassName ?? '') ?? NO_CLASS;
  const named = podSpec.priorityClassName === undefined ? {} : { 'f:priorityClassName': {} };
  const spec = { ...podSpec, priorityClassName, priority: value, preemptionPolicy, ...spoilt, schedulerName, nodeName };
  return JSON.parse(
    JSON.stringify({
      metadata: { name: 'web', ...metadata, managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': named } }] },
      spec: { containers: [], ...spec },
      status: { qosClass },
    }),
  ) as object;
}

function worldOf({
  specs,
  globalDefault,
}: {
  specs: readonly (readonly [object, string | undefined])[];
  globalDefault: string | undefined;
}) {
  const classes = RULE_CLASSES.map((each) => ({ ...each, isGlobalDefault: each.name === globalDefault }));
  const policies = specs.map(([spec, schedulerName], index) => {
    const named = { ...spec, ...(schedulerName !== undefined && { schedulerName }) };
    return valueOf(decodePriorityPolicy({ metadata: { name: `p${index}` }, spec: named }));
  });
  const known = new Map(classes.map((each) => [each.name, each]));
  const compiled = compileRules({ policies, quotas: [], classes: known, mode: 'Enforce', bytesOf: storedBytes });
  const conditions = leftToWebhook({ giving: compiled.giving, classes: known, avoiding: [] });
  if (conditions === undefined) throw new Error('too many classes');
  return { classes, policies: policies.toSorted(byName), compiled, conditions };
}

function activation({ user, groups, namespace, isByController }: Pod, object: object) {
  return {
    object: celValue(object),
    oldObject: null,
    request: celValue({
      operation: 'CREATE',
      kind: { kind: 'Pod' },
      namespace: namespaceName(namespace),
      userInfo: { username: user, groups: isByController ? [...groups, CONTROLLER] : groups },
    }),
    authorizer: new AuthorizerValue(),
  };
}

function isAsked({ expression }: MatchCondition, written: Pod, object: object): boolean {
  const compiled = compileExpression(expression, ['object', 'oldObject', 'request', 'authorizer']);
  if (!compiled.ok) throw new Error(compiled.message);
  const answer = compiled.expression.evaluate(activation(written, object));
  expect(typeof answer).toBe('boolean');
  return answer === true;
}

/** What the webhook decides about a pod. */
function decided({ classes, policies, compiled }: ReturnType<typeof worldOf>, written: Pod, object: object) {
  const labels = new Map(Object.entries(NAMESPACE_LABELS[written.namespace] ?? {}));
  const requester = { name: written.user, groups: written.groups };
  const request = valueOf(decodePodRequest(object, requester, namespaceName(written.namespace)));
  const cluster = { ...buildWorld({ classes, policies }), namespaceLabels: () => labels };
  const mutation = decideMutation(request, cluster);
  // The API server has moved the requests that go to spare room (spare-patch.test.ts).
  const change = mutation.kind === 'allowed' ? mutation.change : undefined;
  const patch = change === undefined ? [] : priorityPatch(object, { ...change, spare: undefined });
  // Where policies give classes, that of the API server has taken off what a person wrote.
  const isLeft = ({ op, path }: PatchOperation): boolean =>
    op !== 'remove' || path !== RECORD_PATH || compiled.giving === undefined;
  return {
    gives: patch.some(isLeft),
    refuses: decideValidation(request, cluster).kind === 'refused',
  };
}

function isRefusedInProcess({ compiled }: ReturnType<typeof worldOf>, written: Pod, object: object): boolean {
  if (compiled.refusing === undefined) return false;
  const params = celValue({ spec: encodePriorityRules(compiled.refusing) });
  const namespaceObject = celValue({ metadata: { labels: NAMESPACE_LABELS[written.namespace] ?? {} } });
  return evaluatePolicy(PODS, { ...activation(written, object), params, namespaceObject }).length > 0;
}

describe('the webhook is asked', () => {
  const counts = { given: 0, refused: 0, unaskedToGive: 0, unaskedToJudge: 0 };

  test(`about each pod to which it would give something or that it alone would refuse, on ${RUNS} random sets of policies with four pods each (seed ${SEED})`, () => {
    fc.assert(
      fc.property(scene, (chosen) => {
        const world = worldOf(chosen);
        for (const written of chosen.written) {
          const pod = podOf(written, chosen.globalDefault);
          const { gives, refuses } = decided(world, written, pod);
          const [toGive, toJudge] = [
            isAsked(world.conditions.mutating, written, pod),
            isAsked(world.conditions.validating, written, pod),
          ];
          // A spoilt triple is the validating entry's to notice.
          const isSpoilt = Object.keys(written.spoilt).length > 0;
          if (gives && !isSpoilt) expect(toGive).toBe(true);
          if (refuses && !isRefusedInProcess(world, written, pod)) expect(toJudge).toBe(true);
          counts.given += gives ? 1 : 0;
          counts.refused += refuses ? 1 : 0;
          counts.unaskedToGive += toGive ? 0 : 1;
          counts.unaskedToJudge += toJudge ? 0 : 1;
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(RUNS / 20);
  });

  const [LOW] = RULE_CLASSES;
  const { conditions } = worldOf({ specs: [], globalDefault: undefined });
  const person = { user: 'alice', groups: [], namespace: 0, isByController: false } as unknown as Pod;
  const triple = { priorityClassName: LOW?.name, priority: LOW?.value, preemptionPolicy: LOW?.preemptionPolicy };

  test.each<[string, object, boolean, boolean]>([
    ['no pod that has all that its class gives', {}, false, false],
    [
      'a pod with an annotation that may be a mistake',
      { metadata: { annotations: { 'plimsoll.dev/evict': '' } } },
      true,
      false,
    ],
    ['a pod with a long grace period', { spec: { ...triple, terminationGracePeriodSeconds: 3_600 } }, true, false],
    ['a pod with pod affinity', { spec: { ...triple, affinity: { podAffinity: {} } } }, true, false],
    ['a pod with a number of its own', { spec: { ...triple, priority: 7 } }, true, true],
    [
      'a pod with a mark that a tenant wrote',
      { metadata: { annotations: { 'plimsoll.dev/judged': 'true' } }, spec: { ...triple, priority: 7 } },
      true,
      true,
    ],
    ['a pod of an unknown class', { spec: { ...triple, priorityClassName: 'other' } }, true, true],
  ])('about %s: %j', (_, parts, byPerson, byController) => {
    const object = { metadata: {}, spec: triple, ...parts };
    const asked = [false, true].map((isByController) =>
      isAsked(conditions.validating, { ...person, isByController }, object),
    );
    expect(asked).toEqual([byPerson, byController]);
  });

  const world = buildWorld({
    classes: RULE_CLASSES,
    quotas: [buildClassQuota('unused', 'rule-low-never', { hard: { pods: '1' }, used: { pods: '0' } })],
    knownPods: [buildPod({ name: 'cache', namespace: 'team-a', labels: { app: 'cache' }, priority: 1 })],
  });
  const topologyKey = 'kubernetes.io/hostname';
  const terms = [{ topologyKey, labelSelector: { matchLabels: { app: 'cache' } } }];
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: terms };
  const warned: Readonly<Record<keyof typeof WARNINGS, object>> = {
    annotations: { metadata: { annotations: { 'plimsoll.dev/evict': '' } } },
    gracePeriod: { spec: { ...triple, terminationGracePeriodSeconds: 3_600 } },
    unusedRoom: { spec: { priorityClassName: 'rule-low-never', priority: 10, preemptionPolicy: 'Never' } },
    spareRoom: { metadata: { annotations: { 'plimsoll.dev/spare': 'true' } } },
    affinity: { spec: { ...triple, affinity: { podAffinity } } },
  };

  test.each(Object.entries(warned))('about a pod that gets the warning %s', (name, parts) => {
    const object = { metadata: {}, spec: { ...triple }, ...parts };
    const spec = { containers: [], ...object.spec };
    const request = valueOf(decodePodRequest({ ...object, spec }, { name: 'alice', groups: [] }, 'team-a'));
    expect(WARNINGS[name as keyof typeof WARNINGS](request, world)).toHaveLength(1);
    expect(isAsked(conditions.validating, person, object)).toBe(true);
  });

  test('to give a class to a pod that may have got the global default, though it is judged without the webhook', () => {
    const specs = [[{ defaultPriorityClassName: 'rule-standard' }, undefined]] as const;
    const asked = [
      { specs, globalDefault: 'rule-low' },
      { specs, globalDefault: undefined },
    ].map((chosen) => {
      const { mutating, validating } = worldOf(chosen).conditions;
      return [mutating, validating].map((each) => isAsked(each, person, { metadata: {}, spec: triple }));
    });
    expect(asked).toEqual([
      [true, false],
      [false, false],
    ]);
  });

  test('about a pod with an owner while nodes have avoid lists', () => {
    const classes = CLASSES;
    const owned = { metadata: { ownerReferences: [{ uid: 'u' }] }, spec: triple };
    const asked = (['everywhere', [namespaceName(person.namespace)], ['apart'], []] as const).map((avoiding) => {
      const condition = leftToWebhook({ giving: undefined, classes, avoiding })?.mutating;
      return condition && isAsked(condition, person, owned);
    });
    expect(asked).toEqual([true, true, false, false]);
  });

  test('about nothing in a namespace for which nothing is configured, but what only the webhook does there', () => {
    const own = namespaceName(person.namespace);
    const [plain, owned, slow, marked] = [
      { metadata: {}, spec: triple },
      { metadata: { ownerReferences: [{ uid: 'u' }] }, spec: triple },
      { metadata: {}, spec: { ...triple, terminationGracePeriodSeconds: 3_600 } },
      { metadata: { annotations: { 'plimsoll.dev/class-rule': 'mine' } }, spec: triple },
    ];
    const answers = [['apart', own], ['apart']].flatMap((elsewhere) =>
      [[], [own]].map((avoiding) => {
        const found = notElsewhere(elsewhere, { avoiding, judgesBudgets: false });
        if (found === undefined) throw new Error('no condition');
        const { mutating, validating, templates } = found;
        const pods = [plain, owned, slow, marked];
        return [
          ...[mutating, validating].map((each) => pods.map((pod) => isAsked(each, person, pod))),
          isAsked(templates, person, plain),
        ];
      }),
    );
    const [none, all] = [[false, false, false, true], Array.from({ length: 4 }, () => true)];
    expect(answers).toEqual([
      [none, [false, false, true, false], false],
      [[false, true, false, true], [false, false, true, false], false],
      [all, all, true],
      [all, all, true],
    ]);
    expect(notElsewhere([], { avoiding: 'everywhere', judgesBudgets: true })).toBeUndefined();
    expect(notElsewhere(['a'], { avoiding: [], judgesBudgets: true })?.templates.expression).toContain('budgets');
  });

  test('about everything where there are more classes than a condition may hold', () => {
    const many = Array.from({ length: MAX_CLASSES + 1 }, (_, index) => buildClass(`c${index}`, index));
    const classes = new Map(many.map((each) => [each.name, each]));
    expect(leftToWebhook({ giving: undefined, classes, avoiding: [] })).toBeUndefined();
  });
});
