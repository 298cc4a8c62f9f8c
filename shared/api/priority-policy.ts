import { z } from 'zod';
import { EVERYTHING } from '#shared/domain/labels/label-selector.ts';
import type { ClassRule, PolicySubject, PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { type Decoded, readTextMap } from '#shared/kube/decode/wire-object.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind } from './schema/decode-kind.ts';
import {
  field,
  list,
  NAME,
  NAME_BOUNDS,
  optionalTexts,
  preparedSelector,
  requiredText,
  text,
  texts,
} from './schema/fields.ts';

const SET = { 'x-kubernetes-list-type': 'set' } as const;
const CLASSES = { ...SET, maxItems: 64 };
const SUBJECT_KINDS = ['User', 'Group', 'ServiceAccount'] as const;

const SUBJECT = z.codec(
  described(
    z.object({
      kind: z.enum(SUBJECT_KINDS, {
        error: ({ input = '' }) =>
          typeof input === 'string'
            ? `expected User, Group or ServiceAccount, got ${JSON.stringify(input)}`
            : undefined,
      }),
      name: requiredText('expected a name', NAME_BOUNDS),
      namespace: text(undefined, { minLength: 1, maxLength: 63 }),
    }),
    undefined,
    {
      'x-kubernetes-validations': [
        {
          rule: "has(self.__namespace__) == (self.kind == 'ServiceAccount')",
          message: 'namespace must be set for a ServiceAccount, and only for one',
        },
      ],
    },
  ),
  z.custom<PolicySubject>(),
  {
    decode: ({ kind, name, namespace }, context) => {
      if (kind !== 'ServiceAccount') return { kind, name };
      if (namespace !== undefined) return { kind, name, namespace };
      context.issues.push({ code: 'custom', path: ['namespace'], message: 'expected a namespace', input: namespace });
      return z.NEVER;
    },
    encode: (subject) => ({ namespace: undefined, ...subject }),
  },
);

const RULE = z.codec(
  described(
    z.object({
      name: requiredText('expected a name', {
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        description: 'Name of the rule, unique in this policy.',
      }),
      podSelector: preparedSelector(
        'Labels of the pods that the rule takes. If absent, it takes pods with any labels.',
        EVERYTHING,
        {
          'x-kubernetes-validations': [
            {
              rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)',
              message: 'must have matchLabels or matchExpressions; leave podSelector out to take pods with any labels',
            },
          ],
        },
      ),
      ownerKinds: texts(
        'Kinds of the controller that owns the pod, such as DaemonSet, ReplicaSet, StatefulSet or Job. If absent, the rule takes pods of any owner, and without one.',
        {
          ...SET,
          minItems: 1,
          maxItems: 16,
          'x-kubernetes-validations': [
            {
              rule: "!('Deployment' in self)",
              message: 'must not contain Deployment; the pods of a Deployment are owned by a ReplicaSet',
            },
            {
              rule: "!('CronJob' in self)",
              message: 'must not contain CronJob; the pods of a CronJob are owned by a Job',
            },
          ],
        },
        { minLength: 1, maxLength: 63, pattern: '^[A-Z][A-Za-z0-9]*$' },
      ),
      priorityClassName: requiredText('expected a priority class', {
        ...NAME_BOUNDS,
        description: 'Class of the pods that the rule takes.',
      }),
    }),
    undefined,
    {
      'x-kubernetes-validations': [
        {
          rule: 'has(self.podSelector) || has(self.ownerKinds)',
          message: 'must set podSelector or ownerKinds; defaultPriorityClassName is the class of all other pods',
        },
      ],
    },
  ),
  z.custom<ClassRule>(),
  {
    decode: ({ podSelector, priorityClassName, ...rule }) => ({
      ...rule,
      pods: podSelector,
      className: priorityClassName,
    }),
    encode: ({ pods, className, ...rule }) => ({ ...rule, podSelector: pods, priorityClassName: className }),
  },
);

export const PRIORITY_POLICY_SPEC = described(
  z.object({
    namespaceSelector: preparedSelector(
      'Labels of the namespaces that this policy applies to. If empty or absent, it selects every namespace.',
      EVERYTHING,
    ),
    subjects: list(
      SUBJECT,
      'Users, groups and service accounts that this policy applies to. If absent, it applies to everyone. For workloads, the user counts for the pod template, and the service account for the pods.',
      { maxItems: 64 },
    ),
    defaultPriorityClassName: text(
      'Class of pods that name none and that no rule of classRules takes. If several policies apply, the class with the lowest value is used.',
      NAME_BOUNDS,
    ),
    classRules: list(
      RULE,
      'Rules for the class of pods that name none. The first rule that takes a pod applies. Its name is recorded in the annotation plimsoll.dev/class-rule of the pod, as POLICY/RULE.',
      {
        maxItems: 16,
        'x-kubernetes-validations': [
          {
            rule: 'self.all(rule, self.exists_one(other, other.name == rule.name))',
            message: 'each rule must have a name of its own',
          },
        ],
      },
    ),
    allowedPriorityClassNames: optionalTexts(
      'Priority classes that pods may use. If absent, all classes are allowed.',
      CLASSES,
      NAME_BOUNDS,
    ),
    maxPriority: described(z.int().optional(), 'Highest priority that pods may have.', { format: 'int32' }),
    preemption: described(
      z.enum(['Allow', 'Never']).default('Allow'),
      'Never: pods may use only classes that do not preempt, or the substitutes for other classes.',
    ),
    substitutePriorityClassNames: field(
      { read: readTextMap, write: (value) => (value.size === 0 ? undefined : Object.fromEntries(value)) },
      {
        type: 'object',
        additionalProperties: { type: 'string', ...NAME_BOUNDS },
        maxProperties: 64,
        description: 'Substitute for each class that preempts. Pods that name the class get the substitute.',
      },
    ),
    requireQuotaFor: texts('Classes that pods may use only in namespaces with a quota for them.', CLASSES, NAME_BOUNDS),
    runOn: described(
      z.enum(['Requested', 'Spare', 'Either']).default('Requested'),
      'Room that pods run in. Spare: what nodes lend of requests that are not used; the cpu and memory requests of pods become requests of plimsoll.dev/spare-cpu and plimsoll.dev/spare-memory. Either: only pods with the annotation plimsoll.dev/spare: "true". If several policies apply, one that grants spare room is enough.',
    ),
    sparePriorityClassNames: optionalTexts(
      'Priority classes of the pods that runOn applies to. If absent, all pods of this policy.',
      CLASSES,
      NAME_BOUNDS,
    ),
    onViolation: described(
      z.enum(['Deny', 'Warn']).default('Deny'),
      'Deny refuses the pod. Warn admits it with a warning.',
    ),
    schedulerName: text(
      'Scheduler of pods that name none. If several policies apply, the first by name is used.',
      NAME_BOUNDS,
    ),
  }),
  'What is allowed, and in which namespaces.',
  {
    'x-kubernetes-validations': [
      {
        rule: '!(has(self.allowedPriorityClassNames) && has(self.maxPriority))',
        message: 'must set at most one of allowedPriorityClassNames and maxPriority',
      },
      {
        rule: '!has(self.allowedPriorityClassNames) || !has(self.defaultPriorityClassName) || self.defaultPriorityClassName in self.allowedPriorityClassNames',
        message: 'defaultPriorityClassName must be one of allowedPriorityClassNames',
      },
      {
        rule: '!has(self.allowedPriorityClassNames) || !has(self.classRules) || self.classRules.all(rule, rule.priorityClassName in self.allowedPriorityClassNames)',
        message: 'priorityClassName of each of classRules must be one of allowedPriorityClassNames',
      },
      {
        rule: "!has(self.substitutePriorityClassNames) || self.preemption == 'Never'",
        message: 'substitutePriorityClassNames must be used with preemption Never only',
      },
      {
        rule: "!has(self.sparePriorityClassNames) || (has(self.runOn) && self.runOn != 'Requested')",
        message: 'sparePriorityClassNames must be used with runOn Spare or Either only',
      },
    ],
  },
);

const POLICY = z.codec(z.object({ metadata: NAME, spec: PRIORITY_POLICY_SPEC }), z.custom<PriorityPolicy>(), {
  decode: ({ metadata: { name = '' }, spec }) => ({
    name,
    namespaces: spec.namespaceSelector,
    subjects: spec.subjects,
    defaultClassName: spec.defaultPriorityClassName,
    classRules: spec.classRules,
    allowedClassNames: spec.allowedPriorityClassNames,
    maxPriority: spec.maxPriority,
    preemption: spec.preemption,
    substitutes: spec.substitutePriorityClassNames,
    requireQuotaFor: spec.requireQuotaFor,
    runOn: { room: spec.runOn, classNames: spec.sparePriorityClassNames },
    onViolation: spec.onViolation,
    schedulerName: spec.schedulerName,
  }),
  encode: ({ name, namespaces, defaultClassName, allowedClassNames, substitutes, runOn, ...spec }) => ({
    metadata: { name },
    spec: {
      ...spec,
      namespaceSelector: namespaces,
      defaultPriorityClassName: defaultClassName,
      allowedPriorityClassNames: allowedClassNames,
      substitutePriorityClassNames: substitutes,
      runOn: runOn.room,
      sparePriorityClassNames: runOn.classNames,
    },
  }),
});

/** Reads the wire form of a `plimsoll.dev/v1alpha1` PriorityPolicy. */
export function decodePriorityPolicy(raw: unknown): Decoded<PriorityPolicy> {
  return decodeKind(POLICY, raw);
}

/** The object as the API server stores it; what is absent or empty is left out. */
export function encodePriorityPolicy(policy: PriorityPolicy): object {
  return encodeKind('PriorityPolicy', POLICY, policy);
}
