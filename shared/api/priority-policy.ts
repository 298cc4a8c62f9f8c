import { EVERYTHING, prepareSelector, type PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityPolicy, PolicySubject, ClassRule } from '#shared/domain/priority/classes-and-policies.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  type Decoded,
  decodeObject,
  readChoice,
  readIdentity,
  readInteger,
  readList,
  readPart,
  readText,
  readTextMap,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeObject, encodeSelector, present, unlessEmpty } from './fields.ts';

/** Reads the wire form of a `plimsoll.dev/v1alpha1` PriorityPolicy. */
export function decodePriorityPolicy(raw: unknown): Decoded<PriorityPolicy> {
  return decodeObject(raw, (object) => ({
    name: readPart(object, 'metadata', readIdentity).name,
    ...readPart(object, 'spec', readSpec),
  }));
}

function readSpec(spec: WireObject): Omit<PriorityPolicy, 'name'> {
  return {
    namespaces: readNamespaceSelector(spec),
    subjects: readList(spec, 'subjects', readSubject),
    defaultClassName: readText(spec, 'defaultPriorityClassName'),
    classRules: readList(spec, 'classRules', readClassRule),
    allowedClassNames: readOptionalTexts(spec, 'allowedPriorityClassNames'),
    maxPriority: readInteger(spec, 'maxPriority'),
    preemption: readChoice(spec, 'preemption', ['Allow', 'Never']) ?? 'Allow',
    substitutes: readTextMap(spec, 'substitutePriorityClassNames'),
    requireQuotaFor: readTexts(spec, 'requireQuotaFor'),
    onViolation: readChoice(spec, 'onViolation', ['Deny', 'Warn']) ?? 'Deny',
    schedulerName: readText(spec, 'schedulerName'),
  };
}

/** The selector of a cluster-wide object: absent selects every namespace. */
export function readNamespaceSelector(spec: WireObject): PreparedSelector {
  return readSelectorOrAll(spec, 'namespaceSelector');
}

function readSelectorOrAll(object: WireObject, key: string): PreparedSelector {
  const selector = readSelector(object, key);
  return selector === undefined ? EVERYTHING : prepareSelector(selector);
}

function readClassRule(rule: WireObject): ClassRule {
  return {
    name: readText(rule, 'name') ?? refuseField('name', 'expected a name'),
    pods: readSelectorOrAll(rule, 'podSelector'),
    ownerKinds: readTexts(rule, 'ownerKinds'),
    className: readText(rule, 'priorityClassName') ?? refuseField('priorityClassName', 'expected a priority class'),
  };
}

/** Absent allows everything, an empty list nothing. */
function readOptionalTexts(object: WireObject, key: string): readonly string[] | undefined {
  return object[key] === undefined || object[key] === null ? undefined : readTexts(object, key);
}

function readSubject(subject: WireObject): PolicySubject {
  const name = readText(subject, 'name') ?? refuseField('name', 'expected a name');
  const kind = readText(subject, 'kind');
  switch (kind) {
    case 'User':
    case 'Group':
      return { kind, name };
    case 'ServiceAccount':
      return {
        kind,
        name,
        namespace: readText(subject, 'namespace') ?? refuseField('namespace', 'expected a namespace'),
      };
    default:
      return refuseField('kind', `expected User, Group or ServiceAccount, got ${JSON.stringify(kind ?? '')}`);
  }
}

/** The object as the API server stores it; what is absent or empty is left out. */
export function encodePriorityPolicy({ name, ...policy }: PriorityPolicy): object {
  return encodeObject('PriorityPolicy', { name }, { spec: encodeSpec(policy) });
}

function encodeSpec(policy: Omit<PriorityPolicy, 'name'>): object {
  const { namespaces, subjects, substitutes, preemption, onViolation, schedulerName } = policy;
  return present({
    namespaceSelector: namespaces.written && encodeSelector(namespaces.written),
    subjects: unlessEmpty(subjects),
    defaultPriorityClassName: policy.defaultClassName,
    classRules: unlessEmpty(policy.classRules.map(encodeClassRule)),
    allowedPriorityClassNames: policy.allowedClassNames,
    maxPriority: policy.maxPriority,
    preemption,
    substitutePriorityClassNames: substitutes.size === 0 ? undefined : Object.fromEntries(substitutes),
    requireQuotaFor: unlessEmpty(policy.requireQuotaFor),
    onViolation,
    schedulerName,
  });
}

function encodeClassRule({ name, pods, ownerKinds, className }: ClassRule): object {
  return present({
    name,
    podSelector: pods.written && encodeSelector(pods.written),
    ownerKinds: unlessEmpty(ownerKinds),
    priorityClassName: className,
  });
}
