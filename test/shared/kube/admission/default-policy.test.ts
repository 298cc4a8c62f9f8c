import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { buildWorld } from '#test/build/admission.ts';
import {
  NAMESPACE_LABELS,
  policyArbitrary,
  RULE_CLASSES,
  type Written,
  writtenArbitrary,
} from '#test/build/rule-cases.ts';
import { valueOf } from '#test/build/value-of.ts';

const RUNS = 500;
const SEED = 20_261_125;
const DEFAULT = 'default-scheduler';
const NOTHING = `kept ${DEFAULT}`;
const [MUTATING] = defaultPolicy();

/** The same variables and conditions, with a sentence about what they give. */
const TELLING = admissionPolicyOf({
  ...MUTATING,
  spec: {
    ...(MUTATING?.['spec'] as object),
    validations: [
      {
        expression: 'false',
        messageExpression: [
          "(variables.isGiven ? variables.given + ' ' + string(params.spec.classes[variables.given].value) + ' ' +",
          "  params.spec.classes[variables.given].preemptionPolicy : 'kept') + ' ' + variables.schedulerName +",
          "  (variables.record == variables.recorded ? '' :",
          "  ' recorded ' + (variables.record == '' ? 'nothing' : variables.record))",
        ].join('\n'),
      },
    ],
  },
} as unknown as KubeObject);

const namespaceName = (index: number): string => `team-${index}`;

interface Scene {
  readonly specs: readonly (readonly [spec: object, schedulerName: string | undefined])[];
  readonly globalDefault: string | undefined;
  readonly written: readonly (Written & PodFields)[];
}

interface PodFields {
  readonly schedulerName: string | undefined;
  readonly nodeName: string | undefined;
  /** How many have written to the pod. */
  readonly managers: number;
}

const podFields: fc.Arbitrary<PodFields> = fc.record({
  schedulerName: fc.constantFrom(undefined, DEFAULT, 'own'),
  nodeName: fc.constantFrom(undefined, undefined, 'node'),
  managers: fc.constantFrom(0, 1, 3),
});
const scene: fc.Arbitrary<Scene> = fc.record({
  specs: fc.array(
    fc.tuple(
      policyArbitrary(namespaceName),
      fc.constantFrom(undefined, undefined, undefined, DEFAULT, 'other', 'second'),
    ),
    { maxLength: 6 },
  ),
  globalDefault: fc.option(fc.constantFrom(...RULE_CLASSES.map(({ name }) => name)), { nil: undefined }),
  written: fc.array(
    fc
      .tuple(writtenArbitrary(['Pod'], namespaceName), podFields)
      .map(([written, fields]) => ({ ...written, ...fields })),
    { minLength: 4, maxLength: 4 },
  ),
});

/** A pod that the Priority plugin has been asked about, as it reaches the API server's policies. */
function podOf(
  { podSpec, metadata, managers, ...fields }: Scene['written'][number],
  globalDefault: string | undefined,
) {
  const { priorityClassName = globalDefault } = podSpec;
  const { value, preemptionPolicy } = CLASSES.get(priorityClassName ?? '') ?? NO_CLASS;
  const spec = { ...podSpec, ...defined({ priorityClassName }), priority: value, preemptionPolicy };
  const { schedulerName, nodeName } = fields;
  return {
    metadata: {
      name: 'web',
      ...metadata,
      managedFields: managedFields(managers, podSpec.priorityClassName !== undefined),
    },
    spec: { ...spec, ...defined({ schedulerName, nodeName }) },
  };
}

const CLASSES = new Map(RULE_CLASSES.map((each) => [each.name, each]));
const NO_CLASS = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };

function managedFields(managers: number, isNamed: boolean): readonly object[] {
  const entry = { manager: 'm', fieldsV1: { 'f:spec': isNamed ? { 'f:priorityClassName': {} } : {} } };
  return Array.from({ length: managers }, () => entry);
}

function defined(fields: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function worldOf({ specs, globalDefault }: Scene) {
  const classes = RULE_CLASSES.map((each) => ({ ...each, isGlobalDefault: each.name === globalDefault }));
  const policies = specs.map(([spec, schedulerName], index) =>
    valueOf(
      decodePriorityPolicy({
        metadata: { name: `p${index}` },
        spec: { ...spec, ...(schedulerName && { schedulerName }) },
      }),
    ),
  );
  const byNames = new Map(classes.map((each) => [each.name, each]));
  const { giving } = compileRules({ policies, quotas: [], classes: byNames, mode: 'DryRun', bytesOf: storedBytes });
  return { classes, policies, giving };
}

function given(world: ReturnType<typeof worldOf>, written: Scene['written'][number], pod: object): string {
  // Where no policy gives anything, the webhook alone takes off what a person wrote.
  if (world.giving === undefined)
    return written.metadata?.annotations === undefined ? NOTHING : `${NOTHING} recorded nothing`;
  const faults = evaluatePolicy(TELLING, {
    object: celValue(pod),
    oldObject: null,
    request: celValue({
      operation: 'CREATE',
      kind: { kind: 'Pod' },
      namespace: namespaceName(written.namespace),
      userInfo: { username: written.user, groups: written.groups },
    }),
    params: celValue({ spec: encodePriorityRules(world.giving) }),
    namespaceObject: celValue({ metadata: { labels: NAMESPACE_LABELS[written.namespace] ?? {} } }),
    authorizer: new AuthorizerValue(),
  });
  expect(faults.filter(({ kind }) => kind === 'failed')).toEqual([]);
  return faults[0]?.message ?? NOTHING;
}

function decided(world: ReturnType<typeof worldOf>, written: Scene['written'][number], pod: object): string {
  const labels = new Map(Object.entries(NAMESPACE_LABELS[written.namespace] ?? {}));
  const requester = { name: written.user, groups: written.groups };
  const request = valueOf(decodePodRequest(pod, requester, namespaceName(written.namespace)));
  const { classes, policies } = world;
  const cluster = { ...buildWorld({ classes, policies: policies.toSorted(byName) }), namespaceLabels: () => labels };
  const decision = decideMutation(request, cluster);
  if (decision.kind !== 'allowed') throw new Error(decision.because.text);
  const { change } = decision;
  if (change === undefined) return NOTHING;
  const isKept = change.priorityClassName === request.pod.spec.priorityClassName || change.priorityClassName === '';
  const triple = isKept ? 'kept' : `${change.priorityClassName} ${change.priority} ${change.preemptionPolicy}`;
  const record = change.classRule === undefined ? '' : ` recorded ${change.classRule || 'nothing'}`;
  return `${triple} ${change.schedulerName ?? DEFAULT}${record}`;
}

/** The pod as the webhook gets it afterwards. */
function afterwards(pod: { readonly metadata: object; readonly spec: object }, sentence: string): object {
  const [fields = '', record] = sentence.split(' recorded ');
  const annotations = record === 'nothing' ? {} : { [ANNOTATION_CLASS_RULE]: record };
  const [schedulerName, ...triple] = fields.split(' ').toReversed();
  const [preemptionPolicy, priority, priorityClassName] = triple;
  const isGiven = priorityClassName !== undefined;
  return {
    ...pod,
    metadata: { ...pod.metadata, ...(record !== undefined && { annotations }) },
    spec: {
      ...pod.spec,
      ...(isGiven && { priorityClassName, priority: Number(priority), preemptionPolicy }),
      ...(schedulerName !== DEFAULT && { schedulerName }),
    },
  };
}

describe('what the API server gives to pods, and what the webhook gives', () => {
  const counts = { kept: 0, given: 0, scheduled: 0, recorded: 0, byRule: 0, forged: 0 };

  test(`are the same on ${RUNS} random sets of policies with four pods each, and leave nothing to the webhook (seed ${SEED})`, () => {
    fc.assert(
      fc.property(scene, (chosen) => {
        const world = worldOf(chosen);
        for (const written of chosen.written) {
          const pod = podOf(written, chosen.globalDefault);
          const wanted = decided(world, written, pod);
          const sentence = given(world, written, pod);
          expect(sentence).toBe(wanted);
          expect(decided(world, written, afterwards(pod, sentence))).toBe(NOTHING);
          counts[wanted.startsWith('kept') ? 'kept' : 'given'] += 1;
          counts.scheduled += wanted.includes(DEFAULT) ? 0 : 1;
          counts.recorded += / recorded p\d$/.test(wanted) ? 1 : 0;
          counts.byRule += / recorded p\d\/r\d$/.test(wanted) ? 1 : 0;
          counts.forged += wanted.endsWith(' recorded nothing') ? 1 : 0;
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(RUNS / 20);
  });
});
