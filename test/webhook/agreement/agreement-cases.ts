import { WORKLOAD_KINDS } from '#test/webhook/support/workloads.ts';

export type Raw = Readonly<Record<string, unknown>> & { readonly metadata: Readonly<Record<string, unknown>> };

const SCHEDULING = 'scheduling.k8s.io/v1';
const OURS = 'plimsoll.dev/v1alpha1';

function object(apiVersion: string, kind: string, metadata: Raw['metadata'], more: object): Raw {
  return { apiVersion, kind, metadata, ...more };
}

function priorityClass(name: string, value: number, more: object = {}): Raw {
  return object(SCHEDULING, 'PriorityClass', { name }, { value, preemptionPolicy: 'PreemptLowerPriority', ...more });
}

function namespace(name: string, labels: object = {}): Raw {
  return object('v1', 'Namespace', { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } }, {});
}

/** A policy for one namespace. */
function policy(name: string, where: string, spec: object): Raw {
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': where } };
  return object(OURS, 'PriorityPolicy', { name }, { spec: { namespaceSelector, ...spec } });
}

function classQuota(name: string, className: string, status: object, where = 'quotas'): Raw {
  const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: [className] }];
  return object(
    'v1',
    'ResourceQuota',
    { name, namespace: where },
    { spec: { scopeSelector: { matchExpressions } }, status },
  );
}

/** The policies and quotas: one namespace for each kind of rule. */
export const RULES: readonly Raw[] = [
  priorityClass('standard', 100, { globalDefault: true }),
  priorityClass('high', 1_000),
  priorityClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
  priorityClass('low', 10),
  ...['free', 'default', 'ceiling', 'list', 'warn', 'never', 'covered', 'person', 'account', 'quotas'].map((name) =>
    namespace(name),
  ),
  namespace('wide', { 'plimsoll.dev/priority-quota': 'enforced' }),
  policy('default', 'default', { defaultPriorityClassName: 'low' }),
  policy('default-too', 'default', { defaultPriorityClassName: 'high' }),
  policy('ceiling', 'ceiling', { maxPriority: 500 }),
  policy('list', 'list', { allowedPriorityClassNames: ['low', 'high-never'], defaultPriorityClassName: 'low' }),
  policy('warn', 'warn', { maxPriority: 50, onViolation: 'Warn' }),
  policy('never', 'never', { preemption: 'Never', substitutePriorityClassNames: { high: 'high-never' } }),
  policy('covered', 'covered', { requireQuotaFor: ['high', 'low'] }),
  policy('person', 'person', { maxPriority: 50, subjects: [{ kind: 'User', name: 'alice' }] }),
  policy('account', 'account', {
    maxPriority: 50,
    subjects: [{ kind: 'ServiceAccount', name: 'builder', namespace: 'account' }],
  }),
  classQuota('full', 'high', { hard: { 'requests.memory': '1Gi' }, used: { 'requests.memory': '1Gi' } }),
  classQuota('unused', 'high-never', { hard: { pods: '5' }, used: { pods: '0' } }),
  classQuota('strict', 'low', { hard: { 'requests.cpu': '5' }, used: { 'requests.cpu': '0' } }),
  object(OURS, 'PriorityQuota', { name: 'none-left' }, { spec: { priorityClassNames: ['high'], hard: { pods: '0' } } }),
];

const NAMESPACES = RULES.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => String(metadata['name']));

/** A namespace whose quota `small` is held by pod `first`, so that pod `second` does not fit. */
export const HELD = {
  rules: (used: string): readonly Raw[] => [
    namespace('held'),
    classQuota('small', 'low', { hard: { 'requests.cpu': '5' }, used: { 'requests.cpu': used } }, 'held'),
  ],
  first: heldPod('first'),
  second: heldPod('second'),
};

function heldPod(name: string): Raw {
  const resources = { requests: { cpu: '3' } };
  return pod(name, 'held', { priorityClassName: 'low', priority: 10, containers: [{ name: 'main', resources }] });
}

const MEMORY = { containers: [{ name: 'main', image: 'i', resources: { requests: { memory: '64Mi' } } }] };
const BESIDE = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'cache' } } },
    ],
  },
};

/** What a user may write in a pod. */
const POD_SPECS: Readonly<Record<string, object>> = {
  plain: MEMORY,
  'of-class-high': { ...MEMORY, priorityClassName: 'high' },
  'of-class-high-never': { ...MEMORY, priorityClassName: 'high-never' },
  'of-class-low': { ...MEMORY, priorityClassName: 'low' },
  'of-no-class-that-exists': { ...MEMORY, priorityClassName: 'missing' },
  'with-the-wrong-number': { ...MEMORY, priorityClassName: 'high', priority: 7 },
  'with-the-wrong-policy': { ...MEMORY, priorityClassName: 'high', preemptionPolicy: 'Never' },
  complete: { ...MEMORY, priorityClassName: 'low', priority: 10, preemptionPolicy: 'PreemptLowerPriority' },
  slow: { ...MEMORY, priorityClassName: 'low', terminationGracePeriodSeconds: 3_600 },
  beside: { ...MEMORY, priorityClassName: 'low', affinity: BESIDE },
  'of-the-account': { ...MEMORY, priorityClassName: 'high', serviceAccountName: 'builder' },
};

function pod(name: string, where: string, spec: object, more: object = {}): Raw {
  return object('v1', 'Pod', { name, namespace: where, uid: `${where}-${name}` }, { spec, ...more });
}

const PODS = NAMESPACES.flatMap((where) => Object.entries(POD_SPECS).map(([name, spec]) => pod(name, where, spec)));

const ODD_PODS = [
  pod('forged', 'free', MEMORY, { status: { qosClass: 'Guaranteed' } }),
  pod('huge-number', 'free', { ...MEMORY, priority: 99_999_999_999 }),
  pod('no-number', 'free', { ...MEMORY, priority: 'high' }),
  pod('classless-number', 'ceiling', { ...MEMORY, priority: 100 }),
  object('v1', 'Pod', { generateName: 'generated-', namespace: 'ceiling' }, { spec: POD_SPECS['of-class-high'] ?? {} }),
];

const TEMPLATES = ['free', 'default', 'ceiling', 'warn', 'never', 'person', 'account'].flatMap((where) =>
  WORKLOAD_KINDS.flatMap(({ kind, build }) =>
    ['plain', 'of-class-high', 'of-no-class-that-exists', 'slow', 'of-the-account'].map((name) => {
      const built = build(`${kind.toLowerCase()}-${name}`, POD_SPECS[name] ?? {}) as Raw;
      return { ...built, metadata: { ...built.metadata, namespace: where } };
    }),
  ),
);

/** All objects that are reviewed. */
export const JUDGED: readonly Raw[] = [...PODS, ...ODD_PODS, ...TEMPLATES];
