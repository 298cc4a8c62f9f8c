import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf, type AdmissionPolicy } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import type { RuleSet } from '#shared/domain/priority-rules/priority-rules.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { decodePodRequest, decodeTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import {
  NAMESPACE_LABELS,
  policyArbitrary,
  quotaArbitrary,
  RULE_CLASSES,
  storedPod,
  verdictOfWebhook,
  writtenArbitrary,
  type Written,
  type WrittenPolicy,
} from '#test/build/rule-cases.ts';
import { WORKLOAD_KINDS, workloadKind } from '#test/webhook/support/workloads.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';

const [PODS, TEMPLATES] = ['priority.plimsoll.dev', 'templates.plimsoll.dev'].map(policyNamed);
const RUNS = 400;
const SEED = 20_261_124;

function policyNamed(name: string): AdmissionPolicy {
  const found = rulePolicies().find(
    ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name === name,
  );
  return admissionPolicyOf(found as unknown as KubeObject);
}

function valueOf<T>(decoded: Decoded<T> | undefined): T {
  if (decoded?.ok !== true) throw new Error(`cannot read: ${JSON.stringify(decoded)}`);
  return decoded.value;
}

function namespaceName(index: number): string {
  return `team-${index}`;
}

interface Scene {
  readonly policies: readonly WrittenPolicy[];
  readonly globalDefault: string | undefined;
  readonly quotas?: readonly object[];
}

function sceneOf({ policies, globalDefault, quotas: specs = [] }: Scene) {
  const classes = RULE_CLASSES.map((each) => ({ ...each, isGlobalDefault: each.name === globalDefault }));
  const read = policies.map(({ name, spec }) => valueOf(decodePriorityPolicy({ metadata: { name }, spec })));
  const quotas = specs.map((spec, index) => valueOf(decodePriorityQuota({ metadata: { name: `q${index}` }, spec })));
  const byName = new Map(classes.map((each) => [each.name, each]));
  const compiled = compileRules({ policies: read, quotas, classes: byName, mode: 'Enforce', bytesOf: storedBytes });
  return { classes, byName, policies: read, quotas, compiled };
}

function evaluate(
  policy: AdmissionPolicy | undefined,
  set: RuleSet | undefined,
  object: object,
  written: Written,
  labels: object,
) {
  if (policy === undefined || set === undefined) return undefined;
  const { user, groups } = written;
  const faults = evaluatePolicy(policy, {
    object: celValue(object),
    oldObject: null,
    request: celValue({
      operation: 'CREATE',
      kind: { kind: written.kind },
      namespace: namespaceName(written.namespace),
      userInfo: { username: user, groups },
    }),
    params: celValue({ spec: encodePriorityRules(set) }),
    namespaceObject: celValue({ metadata: { labels } }),
    authorizer: new AuthorizerValue(),
  });
  expect(faults.filter(({ kind }) => kind === 'failed')).toEqual([]);
  return faults[0]?.message;
}

/** What the webhook decides, and what the expressions say. */
function judge(
  known: ReturnType<typeof sceneOf>,
  written: Written,
  labels = NAMESPACE_LABELS[written.namespace] ?? {},
) {
  const isPod = written.kind === 'Pod';
  const object = isPod
    ? storedPod(written, known.byName)
    : workloadKind(written.kind).build('web', written.podSpec, written.metadata?.labels);
  const requester = { name: written.user, groups: written.groups };
  const where = namespaceName(written.namespace);
  const read = isPod ? decodePodRequest(object, requester, where) : decodeTemplate(object, requester, where);
  const policy = isPod ? PODS : TEMPLATES;
  const { refusing, warning } = known.compiled;
  return {
    wanted: verdictOfWebhook(written.kind, valueOf(read), { ...known, labels }),
    said: {
      refusal: evaluate(policy, refusing, object, written, labels),
      warning: evaluate(policy, warning, object, written, labels),
    },
  };
}

describe('what the expressions say of the compiled rules, the webhook says of the policies', () => {
  const scene: fc.Arbitrary<Scene> = fc.record({
    policies: fc
      .array(policyArbitrary(namespaceName, true), { maxLength: 8 })
      .map((specs) => specs.map((spec, index) => ({ name: `p${index}`, spec }))),
    globalDefault: fc.option(fc.constantFrom(...RULE_CLASSES.map(({ name }) => name)), { nil: undefined }),
    quotas: fc.array(quotaArbitrary(), { maxLength: 2 }),
  });
  const kinds = WORKLOAD_KINDS.map(({ kind }) => kind);
  const counts = { refused: 0, warned: 0, accepted: 0 };

  test(`on ${RUNS} random sets of policies and quotas with five pods or templates each (seed ${SEED})`, () => {
    fc.assert(
      fc.property(
        scene,
        fc.array(writtenArbitrary(kinds, namespaceName, true), { minLength: 5, maxLength: 5 }),
        (chosen, all) => {
          const known = sceneOf(chosen);
          for (const written of all) {
            const { wanted, said } = judge(known, written);
            expect(said).toEqual(wanted);
            counts[wanted.refusal !== undefined ? 'refused' : wanted.warning !== undefined ? 'warned' : 'accepted'] +=
              1;
          }
        },
      ),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('and enough of them are refused, warned of and accepted', () => {
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(RUNS / 10);
  });
});

describe('the class that the pods of a template will get', () => {
  const ceiling = { maxPriority: 500, subjects: [{ kind: 'User', name: 'alice' }], onViolation: 'Deny' };
  const never = { preemption: 'Never', onViolation: 'Deny' };
  const high = MESSAGES.priorityAboveCeiling.text({
    policy: 'p',
    maxPriority: 500,
    priorityClassName: 'rule-high',
    priority: 1_000,
  });

  test.each<[string, string | undefined, object, string | undefined]>([
    ['its own', 'rule-high', {}, high],
    ['its own, not the default', 'rule-low', { defaultPriorityClassName: 'rule-high' }, undefined],
    ['the default', undefined, { defaultPriorityClassName: 'rule-high' }, high],
    ['none', undefined, {}, undefined],
    [
      'a substitute',
      'rule-high',
      { ...never, substitutePriorityClassNames: { 'rule-high': 'rule-low-never' } },
      undefined,
    ],
    [
      'no substitute that preempts',
      'rule-high',
      { ...never, substitutePriorityClassNames: { 'rule-high': 'rule-low' } },
      high,
    ],
    [
      'none instead of a class that never preempts',
      'rule-high-never',
      { ...never, substitutePriorityClassNames: { 'rule-high-never': 'rule-low-never' } },
      high.replace('rule-high', 'rule-high-never'),
    ],
  ])('is %s', (_, priorityClassName, giving, refusal) => {
    const policies = [
      { name: 'p', spec: ceiling },
      { name: 'q', spec: { onViolation: 'Deny', ...giving } },
    ] as readonly WrittenPolicy[];
    const podSpec = {
      containers: [{ name: 'main', image: 'i' }],
      ...(priorityClassName !== undefined && { priorityClassName }),
    };
    const written = { kind: 'Deployment', namespace: 0, user: 'alice', groups: [], podSpec, qosClass: undefined };
    const { wanted, said } = judge(sceneOf({ policies, globalDefault: undefined }), written);
    expect([wanted.refusal, said.refusal]).toEqual([refusal, refusal]);
  });
});

test('the longest list of classes still makes a sentence that the API server shows', () => {
  const allowedPriorityClassNames = Array.from({ length: 64 }, (_, index) => `${'c'.repeat(240)}-${index}`);
  const policies = [{ name: 'p'.repeat(253), spec: { allowedPriorityClassNames, onViolation: 'Deny' as const } }];
  const podSpec = { containers: [{ name: 'main', image: 'i' }], priorityClassName: 'rule-high' };
  const written = { kind: 'Pod', namespace: 0, user: 'alice', groups: [], podSpec, qosClass: undefined };
  const { wanted, said } = judge(sceneOf({ policies, globalDefault: undefined }), written);
  expect(said).toEqual(wanted);
  expect(said.refusal).toMatch(/ here; allowed: `c+-0`, .* and 58 more$/);
});

describe('a pod that the webhook could not look at', () => {
  const LABEL = 'plimsoll.dev/priority-quota=enforced';
  const CLASS = 'rule-high';
  const required = { requireQuotaFor: [CLASS], onViolation: 'Deny' } as const;
  const byDefault = { defaultPriorityClassName: 'rule-low', onViolation: 'Deny' } as const;
  const counting = { priorityClassNames: [CLASS], hard: { pods: '9' }, requireLabel: true };

  test.each<[string, string | undefined, Partial<Scene>, string | undefined]>([
    [
      'of a class that requires a quota, without the label',
      CLASS,
      { policies: [{ name: 'p', spec: required }] },
      MESSAGES.quotaLabelRequired.text({ policy: 'p', priorityClassName: CLASS, label: LABEL }),
    ],
    ['of another class', 'rule-low', { policies: [{ name: 'p', spec: required }] }, undefined],
    [
      'without the default that a policy gives',
      undefined,
      { policies: [{ name: 'p', spec: byDefault }] },
      MESSAGES.defaultNotGiven.text({ policy: 'p', priorityClassName: 'rule-low' }),
    ],
    [
      'with the global default instead of the one that a policy gives',
      undefined,
      { policies: [{ name: 'p', spec: byDefault }], globalDefault: CLASS },
      MESSAGES.defaultNotGiven.text({ policy: 'p', priorityClassName: 'rule-low' }),
    ],
    [
      'with the global default, which a policy gives, too',
      undefined,
      { policies: [{ name: 'p', spec: { ...byDefault, defaultPriorityClassName: CLASS } }], globalDefault: CLASS },
      undefined,
    ],
    [
      'with the global default, which a policy that only warns gives as the lowest',
      undefined,
      {
        policies: [
          { name: 'p', spec: { ...byDefault, defaultPriorityClassName: CLASS } },
          { name: 'q', spec: { ...byDefault, onViolation: 'Warn' } },
        ],
        globalDefault: 'rule-low',
      },
      undefined,
    ],
    [
      'that names the global default',
      CLASS,
      { policies: [{ name: 'p', spec: byDefault }], globalDefault: CLASS },
      undefined,
    ],
    ['that names another class than the default', CLASS, { policies: [{ name: 'p', spec: byDefault }] }, undefined],
    [
      'without a class, where the default does not exist',
      undefined,
      { policies: [{ name: 'p', spec: { ...byDefault, defaultPriorityClassName: 'rule-missing' } }] },
      undefined,
    ],
    [
      'that a quota would count if the namespace had its label',
      CLASS,
      { quotas: [counting] },
      MESSAGES.countedWithoutLabel.text({ quota: 'q0', priorityClassName: CLASS, label: LABEL }),
    ],
    [
      'that a quota counts which requires no label',
      CLASS,
      { quotas: [{ ...counting, requireLabel: false }] },
      undefined,
    ],
  ])('%s', (_, priorityClassName, scene, refusal) => {
    const podSpec = { containers: [{ name: 'main', image: 'i' }], ...(priorityClassName && { priorityClassName }) };
    const written = { kind: 'Pod', namespace: 0, user: 'alice', groups: [], podSpec, qosClass: undefined };
    const { wanted, said } = judge(sceneOf({ policies: [], globalDefault: undefined, ...scene }), written);
    expect([wanted.refusal, said.refusal]).toEqual([refusal, refusal]);
  });

  test('nothing of this holds where the namespace has the label', () => {
    const podSpec = { containers: [{ name: 'main', image: 'i' }], priorityClassName: CLASS };
    const written = { kind: 'Pod', namespace: 0, user: 'alice', groups: [], podSpec, qosClass: undefined };
    const scene = sceneOf({ policies: [{ name: 'p', spec: required }], globalDefault: undefined, quotas: [counting] });
    const { wanted, said } = judge(scene, written, { 'plimsoll.dev/priority-quota': 'enforced' });
    expect([wanted, said]).toEqual([NO_VERDICT, NO_VERDICT]);
  });
});

const NO_VERDICT = { refusal: undefined, warning: undefined };
