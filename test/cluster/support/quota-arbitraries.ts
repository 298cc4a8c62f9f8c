import fc from 'fast-check';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
const AMOUNTS = {
  cpu: ['0', '100m', '0.5', '1', '2500m'],
  memory: ['0', '64Mi', '128M', '1Gi', '1.5Gi'],
  'ephemeral-storage': ['1Mi', '1Gi'],
} as const;
const LIMITS = {
  pods: ['0', '2', '3', '5', '10'],
  'count/pods': ['2', '4', '10'],
  cpu: ['500m', '2', '10'],
  'requests.cpu': ['1', '2', '10'],
  'limits.cpu': ['1', '3', '10'],
  memory: ['512Mi', '3Gi', '10Gi'],
  'requests.memory': ['256M', '2Gi', '10Gi'],
  'limits.memory': ['2Gi', '10Gi'],
  'requests.ephemeral-storage': ['1Gi', '5Gi'],
} as const;

/** Specs of pods that differ in everything by which quotas choose and count. */
export function quotaPodSpecs(classNames: readonly string[]): fc.Arbitrary<object> {
  return fc.record(
    {
      priorityClassName: fc.constantFrom(...classNames),
      activeDeadlineSeconds: fc.constantFrom(60, 3_600),
      containers: fc.array(container(), { minLength: 1, maxLength: 2 }).map(named('main')),
      initContainers: fc.array(container(), { minLength: 1, maxLength: 1 }).map(named('init')),
      affinity: fc.constantFrom(
        affinity({ namespaces: ['elsewhere'] }),
        affinity({}),
        affinity({ namespaceSelector: {} }),
      ),
    },
    { requiredKeys: ['containers'] },
  );
}

/** Specs of quotas, with scopes of both kinds; the API server refuses some of them, which contradict themselves. */
export function quotaSpecs(classNames: readonly string[]): fc.Arbitrary<object> {
  const hard = fc.record(
    Object.fromEntries(Object.entries(LIMITS).map(([name, amounts]) => [name, fc.constantFrom(...amounts)])),
    { requiredKeys: [] },
  );
  const ofClass = fc.record({
    scopeName: fc.constant('PriorityClass'),
    operator: fc.constantFrom(...OPERATORS),
    values: fc.uniqueArray(fc.constantFrom(...classNames), { minLength: 1, maxLength: 2 }),
  });
  const term = fc.oneof(
    ofClass.map(({ values, ...rest }) => ({ ...rest, ...(rest.operator.endsWith('In') && { values }) })),
    fc
      .constantFrom('Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity')
      .map(exists),
  );
  const scopes = fc.subarray(['Terminating', 'NotTerminating', 'NotBestEffort', 'BestEffort'], { maxLength: 2 });
  return fc.oneof(
    hard.map((limits) => ({ hard: limits })),
    fc.tuple(hard, scopes).map(([limits, names]) => ({ hard: limits, scopes: names })),
    fc
      .tuple(hard, fc.array(term, { minLength: 1, maxLength: 2 }))
      .map(([limits, matchExpressions]) => ({ hard: limits, scopeSelector: { matchExpressions } })),
  );
}

function exists(scopeName: string): object {
  return { scopeName, operator: 'Exists' };
}

function container(): fc.Arbitrary<object> {
  const amounts = fc.record(
    Object.fromEntries(Object.entries(AMOUNTS).map(([name, values]) => [name, fc.constantFrom(...values)])),
    { requiredKeys: [] },
  );
  return fc
    .tuple(amounts, amounts, fc.boolean())
    .map(([requests, more, isGuaranteed]) => ({ resources: { requests, limits: isGuaranteed ? requests : more } }));
}

function named(prefix: string): (containers: readonly object[]) => object {
  return (containers) => containers.map((each, index) => ({ name: `${prefix}-${index}`, image: 'x', ...each }));
}

function affinity(where: object): object {
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: {}, ...where };
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}
