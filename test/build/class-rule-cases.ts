import fc from 'fast-check';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';

/** What rules look at, and what a person claims that they gave. */
export interface PodMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
  readonly annotations?: Readonly<Record<string, string>>;
}

const OWNER_KINDS = ['ReplicaSet', 'DaemonSet', 'Job'];
const POD_LABELS = { role: ['front', 'back'], tier: ['gold', 'silver'] } as const;

/** A rule without a name, of one of the classes. */
export function classRuleArbitrary(className: fc.Arbitrary<string>) {
  const matchLabels = fc.record({ role: fc.constantFrom(...POD_LABELS.role) });
  const requirement = fc.oneof(
    fc.record({ key: fc.constantFrom('role', 'tier'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    fc.record({
      key: fc.constant('tier'),
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.subarray(['gold', 'silver'], { minLength: 1 }),
    }),
  );
  const podSelector = fc.oneof(
    matchLabels.map((labels) => ({ matchLabels: labels })),
    requirement.map((one) => ({ matchExpressions: [one] })),
  );
  const ownerKinds = fc.subarray(OWNER_KINDS, { minLength: 1, maxLength: 2 });
  const takes = fc.oneof(fc.record({ podSelector }), fc.record({ ownerKinds }), fc.record({ podSelector, ownerKinds }));
  return fc.tuple(takes, className).map(([each, priorityClassName]) => ({ ...each, priorityClassName }));
}

/** Labels of a pod. */
export const labelsArbitrary = fc.record(
  { role: fc.constantFrom(...POD_LABELS.role), tier: fc.constantFrom(...POD_LABELS.tier) },
  { requiredKeys: [] },
);

/** With other owners before the controller, and records that name rules and what is none. */
export const podMetadataArbitrary: fc.Arbitrary<PodMetadata> = fc
  .record({
    labels: labelsArbitrary,
    isOwned: fc.boolean(),
    ownerReferences: fc
      .tuple(fc.constantFrom(...OWNER_KINDS), fc.boolean(), fc.boolean())
      .map(([kind, controller, isSecond]) => [
        ...(isSecond ? [{ apiVersion: 'v1', kind: 'Job', name: 'other', uid: 'u0' }] : []),
        { apiVersion: 'v1', kind, name: 'owner', uid: 'u1', controller },
      ]),
    record: fc.constantFrom(undefined, undefined, undefined, 'p0', 'p1/r1', 'forged'),
  })
  .map(({ labels, isOwned, ownerReferences, record }) => ({
    labels,
    ...(isOwned && { ownerReferences }),
    ...(record !== undefined && { annotations: { [ANNOTATION_CLASS_RULE]: record } }),
  }));

/** What a policy says about spare room; most say nothing. */
export function spareArbitrary(className: fc.Arbitrary<string>): fc.Arbitrary<object> {
  const classes = fc.option(fc.uniqueArray(className, { minLength: 1, maxLength: 3 }), { nil: undefined });
  const spare = fc.tuple(fc.constantFrom('Spare', 'Either'), classes).map(([runOn, sparePriorityClassNames]) => ({
    runOn,
    ...(sparePriorityClassNames !== undefined && { sparePriorityClassNames }),
  }));
  return fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: spare });
}
