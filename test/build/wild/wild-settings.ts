import type { RandomSource } from '#test/fakes/random-source.ts';
import { oneOf } from './choices.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** Namespaces, classes, budgets, queues and policies, as administrators and tenants write them. */

export const MANAGED = ['team-a', 'team-b', 'team-c'] as const;
export const NAMESPACES = [
  ...MANAGED,
  'outside',
  'ignored',
  'kube-system',
  'plimsoll-system',
  'plimsoll-node',
] as const;

export function wildNamespaces(): readonly KubeObject[] {
  return NAMESPACES.map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, uid: `uid-${name}`, labels: { 'kubernetes.io/metadata.name': name, ...labelsOf(name) } },
  }));
}

function labelsOf(name: string): Readonly<Record<string, string>> {
  const isManaged = MANAGED.some((each) => each === name);
  return {
    ...(isManaged && { 'plimsoll.dev/queues': 'managed', team: name }),
    ...(name === 'ignored' && { 'plimsoll.dev/ignore': 'true' }),
  };
}

export const PRIORITIES = [
  -2_147_483_648, -1, 0, 0, 0, 0, 10, 10, 1_000, 1_000_000, 1_000_001, 1_999_999_999, 2_000_000_000, 2_147_483_647,
] as const;

export function wildClasses(): readonly KubeObject[] {
  const wishes = [undefined, 'false', 'pod'];
  return wishes.map((wish, index) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: {
      name: `class-${index}`,
      uid: `uid-class-${index}`,
      ...(wish !== undefined && { annotations: { 'plimsoll.dev/allow-preemption': wish } }),
    },
    value: 10,
  }));
}

const SELECTORS = [
  {},
  { matchLabels: { app: 'app-0' } },
  { matchLabels: { app: 'app-1' } },
  { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['app-0'] }] },
] as const;
const BOUNDS = [
  { maxUnavailable: 0 },
  { maxUnavailable: '0%' },
  { minAvailable: '100%' },
  { minAvailable: '99%' },
  { minAvailable: 2_147_483_647 },
  { maxUnavailable: 1 },
  { maxUnavailable: '25%' },
  {},
] as const;
const EVICTION_POLICIES = [undefined, undefined, 'AlwaysAllow', 'IfHealthyBudget'] as const;

export function wildBudgets(random: RandomSource): readonly KubeObject[] {
  return Array.from({ length: random.below(5) }, (_, index) => wildBudget(random, `budget-${index}`));
}

function wildBudget(random: RandomSource, name: string): KubeObject {
  const policy = oneOf(random, EVICTION_POLICIES);
  const isStale = random.chance(0.15);
  const isUnseen = random.chance(0.1);
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: random.pick(NAMESPACES), name, uid: `uid-${name}`, generation: 2 },
    spec: {
      ...(random.chance(0.9) && { selector: random.pick(SELECTORS) }),
      ...random.pick(BOUNDS),
      ...(policy !== undefined && { unhealthyPodEvictionPolicy: policy }),
    },
    ...(!isUnseen && { status: budgetStatus(random, isStale) }),
  };
}

function budgetStatus(random: RandomSource, isStale: boolean): object {
  const desired = random.below(4);
  return {
    observedGeneration: isStale ? 1 : 2,
    disruptionsAllowed: random.pick([0, 0, 1, 1, 2, 2_147_483_647]),
    desiredHealthy: desired,
    currentHealthy: random.below(5),
    expectedPods: random.below(6),
    ...(random.chance(0.1) && { disruptedPods: { 'team-a-0': '2026-01-01T00:00:00Z' } }),
  };
}

const QUEUE_AMOUNTS = [
  {},
  {},
  { cpu: '2' },
  { cpu: '4', memory: '8Gi' },
  { cpu: '500m' },
  { pods: '2' },
  { 'nvidia.com/gpu': '2' },
  { cpu: '0' },
  { 'vendor.example/absent': '1' },
  { cpu: '9007199254740993', memory: '1m' },
] as const;
const POLICIES = [undefined, 'Default', 'Fence', 'Disabled'] as const;
const DELAYS = [undefined, '0s', '30s', '1h', 'soon', '-1s'] as const;
const PARENTS = [undefined, undefined, undefined, 'research', 'team-a', 'absent', 'root'] as const;

/** One queue for each managed namespace, most days; parents that are not there or lead back, and a root with capacity. */
export function wildQueues(random: RandomSource, wildness: number): readonly KubeObject[] {
  if (random.chance(1 - wildness)) return MANAGED.map((name) => queueObject(name, plainSpec(random, name)));
  const names = [...MANAGED.filter(() => random.chance(0.85)), ...(random.chance(0.4) ? ['research'] : [])];
  const root = random.chance(0.25) ? [queueObject('root', rootSpec(random))] : [];
  return [...root, ...names.map((name) => queueObject(name, queueSpec(random, name)))];
}

/** A guarantee, or none, and no other settings. */
function plainSpec(random: RandomSource, name: string): object {
  const guaranteed = random.pick([{}, { cpu: '2' }, { cpu: '4', memory: '8Gi' }]);
  return { guaranteed, preemption: { delay: '0s' }, namespaceSelector: { matchLabels: { team: name } } };
}

function rootSpec(random: RandomSource): object {
  return random.chance(0.5) ? { capacity: random.pick([{ cpu: '10', memory: '20Gi' }, { cpu: '1000' }, {}]) } : {};
}

function queueSpec(random: RandomSource, name: string): object {
  const parent = oneOf(random, PARENTS);
  return {
    ...(parent !== undefined && parent !== name && { parent }),
    weight: random.pick([1, 1, 1, 2, 0, 10_000]),
    guaranteed: random.pick(QUEUE_AMOUNTS),
    max: random.pick(QUEUE_AMOUNTS),
    preemption: preemptionOf(random),
    ...(random.chance(0.2) && { ordering: 'Strict' }),
    ...(random.chance(0.15) && { childTemplate: { guaranteed: random.pick(QUEUE_AMOUNTS) } }),
    ...(random.chance(0.95) && { namespaceSelector: { matchLabels: { team: name } } }),
  };
}

function preemptionOf(random: RandomSource): object {
  const policy = oneOf(random, POLICIES);
  const delay = oneOf(random, DELAYS);
  return {
    ...(policy !== undefined && { policy }),
    ...(delay !== undefined && { delay }),
    ...(random.chance(0.2) && { preferNear: true }),
  };
}

function queueObject(name: string, spec: object): KubeObject {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name, generation: 1 }, spec };
}
