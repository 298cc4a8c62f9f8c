import fc from 'fast-check';
import { decideTemplate, decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { byName } from '#shared/domain/base/texts.ts';
import {
  type PriorityClass,
  type PriorityClasses,
  resolvePriority,
  type PriorityPolicy,
} from '#shared/domain/priority/classes-and-policies.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { buildClass, buildWorld } from './admission.ts';
import {
  classRuleArbitrary,
  labelsArbitrary,
  type PodMetadata,
  podMetadataArbitrary,
  spareArbitrary,
} from './class-rule-cases.ts';

/** A PriorityPolicy as people write it, with only the fields that the API server can judge by, and defaults. */
export interface WrittenPolicy {
  readonly name: string;
  readonly spec: { readonly onViolation: 'Deny' | 'Warn' } & Readonly<Record<string, unknown>>;
}

/** A pod or a template that a user writes. */
export interface Written {
  /** `Pod`, or a kind of workload. */
  readonly kind: string;
  /** Number of the namespace in NAMESPACE_LABELS. */
  readonly namespace: number;
  readonly user: string;
  readonly groups: readonly string[];
  readonly podSpec: { readonly priorityClassName?: string } & Readonly<Record<string, unknown>>;
  /** Of the pod or its template; owner and record only of pods. */
  readonly metadata?: PodMetadata;
  /** Only of pods. */
  readonly qosClass: string | undefined;
}

/** Classes of which none is the global default, so that they may be made in any cluster. */
export const RULE_CLASSES: readonly PriorityClass[] = [
  buildClass('rule-low', 10),
  buildClass('rule-also-low', 10),
  buildClass('rule-standard', 100),
  buildClass('rule-high', 1_000),
  buildClass('rule-high-never', 1_000, { preemptionPolicy: 'Never' }),
  buildClass('rule-low-never', 10, { preemptionPolicy: 'Never' }),
];
const CLASS_NAMES = RULE_CLASSES.map(({ name }) => name);
const PREEMPTING = RULE_CLASSES.filter((each) => each.preemptionPolicy !== 'Never').map(({ name }) => name);
const MISSING_CLASS = 'rule-missing';

export const NAMESPACE_LABELS: readonly Readonly<Record<string, string>>[] = [
  {},
  { team: 'a' },
  { team: 'a', tier: 'gold' },
  { team: 'b' },
  { team: 'b', tier: 'silver' },
  { tier: 'gold' },
];
const SERVICE_ACCOUNT = 'builder';
const USERS = ['rule-alice', 'rule-bob', 'rule-carol'];
const GROUPS = ['rule-dev', 'rule-ops'];

/** `namespaceName` says what the namespace of a number is called; `lends`: some policies grant spare room. */
export function policyArbitrary(
  namespaceName: (index: number) => string,
  lends = false,
): fc.Arbitrary<WrittenPolicy['spec']> {
  const className = fc.constantFrom(...CLASS_NAMES, MISSING_CLASS);
  const limits = fc.oneof(
    fc.uniqueArray(className, { maxLength: 4 }).map((allowedPriorityClassNames) => ({ allowedPriorityClassNames })),
    fc.constantFrom(-1, 0, 10, 50, 100, 500, 1_000).map((maxPriority) => ({ maxPriority })),
    fc.constant({}),
  );
  const preemption = fc.oneof(
    fc.constant({}),
    fc.dictionary(fc.constantFrom(...PREEMPTING, ...CLASS_NAMES), className, { maxKeys: 3 }).map((substitutes) => ({
      preemption: 'Never',
      ...(Object.keys(substitutes).length > 0 && { substitutePriorityClassNames: substitutes }),
    })),
  );
  const parts = fc.record({
    namespaceSelector: fc.option(selectorArbitrary(), { nil: undefined }),
    subjects: fc.option(fc.array(subjectArbitrary(namespaceName), { minLength: 1, maxLength: 3 }), { nil: undefined }),
    limits,
    preemption,
    byDefault: fc.option(className, { nil: undefined }),
    classRules: fc.array(classRuleArbitrary(className), { maxLength: 3, size: 'max' }),
    requireQuotaFor: fc.uniqueArray(className, { maxLength: 2 }),
    onViolation: fc.constantFrom<'Deny' | 'Warn'>('Deny', 'Deny', 'Warn'),
  });
  const lending = lends ? fc.tuple(parts, spareArbitrary(className)) : parts.map((each) => [each, {}] as const);
  return lending.map(
    ([{ namespaceSelector, subjects, limits: limit, preemption: never, byDefault, classRules, ...others }, spare]) => {
      const given = classRules.filter(({ priorityClassName }) => mayBeDefault(priorityClassName, limit));
      return {
        ...(namespaceSelector !== undefined && { namespaceSelector }),
        ...(subjects !== undefined && { subjects }),
        ...limit,
        ...never,
        ...spare,
        ...(mayBeDefault(byDefault, limit) && { defaultPriorityClassName: byDefault }),
        ...(given.length > 0 && { classRules: given.map((rule, index) => ({ name: `r${index}`, ...rule })) }),
        ...others,
      };
    },
  );
}

/** A PriorityQuota that requires its label, as people write it. */
export function quotaArbitrary(): fc.Arbitrary<object> {
  const names = fc.uniqueArray(fc.constantFrom(...CLASS_NAMES), { minLength: 1, maxLength: 3 });
  const scope = fc.oneof(
    names.map((priorityClassNames) => ({ priorityClassNames })),
    fc.constantFrom({ min: 100 }, { max: 10 }, { min: 0, max: 0 }).map((priority) => ({ priority })),
  );
  const selector = fc.option(selectorArbitrary(), { nil: undefined });
  return fc.tuple(scope, selector).map(([chosen, namespaceSelector]) => ({
    ...chosen,
    ...(namespaceSelector !== undefined && { namespaceSelector }),
    hard: { pods: '1' },
    requireLabel: true,
  }));
}

/** The API server takes no default that the same policy does not allow. */
function mayBeDefault(name: string | undefined, limit: object): boolean {
  const { allowedPriorityClassNames: allowed } = limit as { readonly allowedPriorityClassNames?: readonly string[] };
  return name !== undefined && allowed?.includes(name) !== false;
}

function selectorArbitrary(): fc.Arbitrary<object> {
  const [team, tier] = [fc.constantFrom('a', 'b', 'c'), fc.constantFrom('gold', 'silver')];
  const matchLabels = fc.record({ team, tier }, { requiredKeys: [] });
  const key = fc.constantFrom('team', 'tier', 'missing');
  const values = fc.uniqueArray(fc.constantFrom('a', 'b', 'gold', 'silver'), { minLength: 1, maxLength: 3 });
  const requirement = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values }),
    fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  );
  return fc.record({ matchLabels, matchExpressions: fc.array(requirement, { maxLength: 2 }) }, { requiredKeys: [] });
}

function subjectArbitrary(namespaceName: (index: number) => string): fc.Arbitrary<object> {
  const namespace = fc.nat(NAMESPACE_LABELS.length - 1).map(namespaceName);
  return fc.oneof(
    fc.constantFrom(...USERS).map((name) => ({ kind: 'User', name })),
    fc.constantFrom(...GROUPS).map((name) => ({ kind: 'Group', name })),
    namespace.map((where) => ({ kind: 'ServiceAccount', name: SERVICE_ACCOUNT, namespace: where })),
  );
}

/** Pods name only classes that exist, for the API server takes no others; templates name any. */
export function writtenArbitrary(
  workloadKinds: readonly string[],
  namespaceName: (index: number) => string,
  lends = false,
): fc.Arbitrary<Written> {
  const kind = fc.oneof(
    { weight: 2, arbitrary: fc.constant('Pod') },
    { weight: 1, arbitrary: fc.constantFrom(...workloadKinds) },
  );
  const account = fc
    .nat(NAMESPACE_LABELS.length - 1)
    .map((index) => `system:serviceaccount:${namespaceName(index)}:${SERVICE_ACCOUNT}`);
  return kind.chain((chosen) =>
    fc.record({
      kind: fc.constant(chosen),
      namespace: fc.nat(NAMESPACE_LABELS.length - 1),
      user: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...USERS) }, { weight: 1, arbitrary: account }),
      groups: fc.subarray(GROUPS),
      metadata: chosen === 'Pod' ? podMetadataArbitrary : fc.record({ labels: labelsArbitrary }),
      podSpec: podSpecArbitrary(chosen === 'Pod' ? CLASS_NAMES : [...CLASS_NAMES, MISSING_CLASS], lends),
      qosClass: fc.option(fc.constantFrom('BestEffort', 'Burstable', 'Guaranteed', 'none'), {
        nil: undefined,
        freq: 1,
      }),
    }),
  );
}

const SPARE = { 'plimsoll.dev/spare-memory': '1073741824' };
const SPARE_ALONE = fc.constant({ requests: { cpu: '0', memory: '0', ...SPARE }, limits: SPARE });

function podSpecArbitrary(classNames: readonly string[], lends: boolean): fc.Arbitrary<Written['podSpec']> {
  const amounts = fc.record(
    { cpu: fc.constantFrom('0', '500m', '0.5'), memory: fc.constantFrom('0', '1Gi', '1024Mi') },
    { requiredKeys: [] },
  );
  const resources = fc.oneof(
    amounts.map((limits) => ({ limits })),
    amounts.map((requests) => ({ requests })),
    amounts.map((both) => ({ requests: both, limits: both })),
    ...(lends
      ? [amounts.map((requests) => ({ requests: { ...requests, ...SPARE }, limits: SPARE })), SPARE_ALONE]
      : []),
  );
  const container = fc.option(resources, { nil: undefined });
  return fc
    .record(
      {
        containers: fc.array(container, { minLength: 1, maxLength: 2 }),
        initContainers: fc.array(container, { maxLength: 1 }),
        priorityClassName: fc.option(fc.constantFrom(...classNames), { nil: undefined, freq: 1 }),
        serviceAccountName: fc.constantFrom('default', SERVICE_ACCOUNT),
      },
      { requiredKeys: ['containers'] },
    )
    .map(({ containers, initContainers = [], priorityClassName, ...rest }) => ({
      ...rest,
      ...(priorityClassName !== undefined && { priorityClassName }),
      containers: named('main', containers),
      ...(initContainers.length > 0 && { initContainers: named('init', initContainers) }),
    }));
}

function named(prefix: string, all: readonly (object | undefined)[]): readonly object[] {
  return all.map((resources, index) => {
    return { name: `${prefix}-${index}`, image: 'i', ...(resources !== undefined && { resources }) };
  });
}

/** What is refused and warned of because of policies, in their words. */
export interface RuleVerdict {
  readonly refusal: string | undefined;
  readonly warning: string | undefined;
}

/** The webhook's decision on a pod as it is stored, or on a template. */
export function verdictOfWebhook(
  kind: string,
  request: PodRequest,
  {
    policies,
    labels,
    classes,
    quotas = [],
  }: {
    readonly policies: readonly PriorityPolicy[];
    readonly quotas?: readonly PriorityQuota[];
    readonly labels: Readonly<Record<string, string>>;
    readonly classes: readonly PriorityClass[];
  },
): RuleVerdict {
  const world = {
    ...buildWorld({ classes, policies: policies.toSorted(byName), priorityQuotas: quotas.toSorted(byName) }),
    namespaceLabels: () => new Map(Object.entries(labels)),
  };
  const decision = kind === 'Pod' ? decideValidation(request, world) : decideTemplate(request, world);
  const warning = policies.filter(({ onViolation }) => onViolation === 'Warn').map(({ name }) => `policy \`${name}\` `);
  return {
    refusal: decision.kind === 'refused' ? decision.because.text : undefined,
    warning: decision.warnings.find((text) => warning.some((beginning) => text.startsWith(beginning))),
  };
}

/**
 * A pod as the API server is about to store it: class, number and policy agree, the QoS class is there, and it shows
 * whether the user named the class.
 */
export function storedPod(written: Written, classes: PriorityClasses): object {
  const named = written.podSpec.priorityClassName === undefined ? {} : { 'f:priorityClassName': {} };
  const managedFields = [{ manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:containers': {}, ...named } } }];
  const raw = { metadata: { name: 'web', ...written.metadata, managedFields }, spec: written.podSpec, status: {} };
  const resolved = resolvePriority(readPod(raw), classes);
  if (resolved.kind === 'refused') throw new Error(resolved.message);
  const { priorityClassName, priority, preemptionPolicy } = resolved;
  const spec = {
    ...withRequests(written.podSpec),
    ...(priorityClassName !== '' && { priorityClassName }),
    priority,
    preemptionPolicy,
    serviceAccountName: written.podSpec['serviceAccountName'] ?? 'default',
  };
  const complete = { ...raw, spec };
  return { ...complete, status: { qosClass: written.qosClass ?? reportedQosClass(readPod(complete)) } };
}

/** As the API server's defaults do: a limit without a request is one. */
function withRequests(spec: Written['podSpec']): Written['podSpec'] {
  const complete = (container: { resources?: { requests?: object; limits?: object } }): object => {
    const { requests, limits } = container.resources ?? {};
    const both = limits === undefined ? requests : { ...limits, ...requests };
    return { ...container, resources: { ...container.resources, ...(both !== undefined && { requests: both }) } };
  };
  const lists = ['containers', 'initContainers'].filter((list) => spec[list] !== undefined);
  return { ...spec, ...Object.fromEntries(lists.map((list) => [list, (spec[list] as object[]).map(complete)])) };
}

function readPod(raw: object): Pod {
  const decoded = decodePod(raw);
  if (decoded.ok) return decoded.value;
  throw new Error(`${decoded.field}: ${decoded.message}`);
}
