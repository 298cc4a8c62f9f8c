import { WORKLOAD_KINDS, workloadKind } from '#test/webhook/support/workloads.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import { dearTexts, mutated, type Json } from './mutated-json.ts';
import type { AskedOfPolicies } from './policy-evaluator.ts';

/** What rules may name, so that requests meet them. */
export interface RuleNames {
  readonly classes: readonly string[];
  readonly groups: readonly string[];
  readonly users: readonly string[];
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

/** Who asks, and where. */
export type Judging = Pick<AskedOfPolicies, 'namespace' | 'namespaceLabels' | 'user' | 'groups'>;

const MAX_MUTATIONS = 6;
const GROUP_KINDS = ['PodGroup', 'Workload'];
const KINDS = ['Pod', 'Pod', 'Pod', ...WORKLOAD_KINDS.map(({ kind }) => kind), ...GROUP_KINDS];
/** As many templates as a Workload may have. */
const MAX_TEMPLATES = 8;
const GROUP_COUNTS = [0, 1, 3, 99, 100, 101, 250];

/** A pod or template of some kind with up to six changes that a tenant could make, from some user in some namespace. */
export function mutatedRequest(random: RandomSource, names: RuleNames): AskedOfPolicies {
  const kind = random.pick(KINDS);
  const object = mutatedObject(random, kind, names);
  return {
    kind,
    object,
    ...(kind !== 'Pod' &&
      !GROUP_KINDS.includes(kind) &&
      random.chance(0.2) && { oldObject: mutatedObject(random, kind, names) }),
    ...requester(random, names),
  };
}

/** From a user in so many groups that it is costly to judge, in a namespace with the labels that rules ask for. */
export function requester(random: RandomSource, { groups, users, labels }: RuleNames): Judging {
  const count = random.pick(GROUP_COUNTS);
  return {
    namespace: 'team-1',
    namespaceLabels: Object.fromEntries(
      Object.entries(labels)
        .filter(() => random.chance(0.7))
        .map(([key, values]) => [key, random.pick(values)]),
    ),
    user: random.chance(0.7) ? random.pick(users) : random.pick(dearTexts),
    groups: Array.from({ length: count }, (_, index) => (random.chance(0.5) ? random.pick(groups) : `group-${index}`)),
  };
}

/** A pod or a workload with this spec of its pods. */
export function requestOf(kind: string, podSpec: object, by: Judging, metadata: object = {}): AskedOfPolicies {
  const object = build(kind, podSpec) as { readonly metadata: object };
  return { kind, object: { ...object, metadata: { ...object.metadata, ...metadata } }, ...by };
}

function mutatedObject(random: RandomSource, kind: string, names: RuleNames): object {
  const object = baseObject(random, kind, names) as unknown as Json;
  const changes = random.below(MAX_MUTATIONS + 1);
  for (let change = 0; change < changes; change += 1) mutated(random, object);
  return withContainers(object as unknown as object, kind);
}

/** Validation, which comes before, refuses a pod without containers, and a workload without the template's spec. */
function withContainers(object: object, kind: string): object {
  if (GROUP_KINDS.includes(kind)) return object;
  const containers = at(object, [...podSpecPath(kind), 'containers']);
  return Array.isArray(containers) && containers.length > 0 ? object : build(kind, basePodSpec);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((held, key) => (held as Record<string, unknown> | null | undefined)?.[key], value);
}

function podSpecPath(kind: string): readonly string[] {
  if (kind === 'Pod') return ['spec'];
  return kind === 'CronJob' ? ['spec', 'jobTemplate', 'spec', 'template', 'spec'] : ['spec', 'template', 'spec'];
}

function build(kind: string, podSpec: object): object {
  if (kind !== 'Pod') return workloadKind(kind).build('web', podSpec);
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'web', generateName: 'web-', labels: { app: 'web' }, annotations: { note: 'x' } },
    spec: podSpec,
    status: { qosClass: 'Burstable' },
  };
}

function baseObject(random: RandomSource, kind: string, names: RuleNames): object {
  return GROUP_KINDS.includes(kind) ? groupOf(random, kind, names) : podOrWorkload(random, kind, names);
}

/** A group of pods, or templates of such groups. */
function groupOf(random: RandomSource, kind: string, { classes }: RuleNames): object {
  const one = () => ({ priorityClassName: random.pick(classes), schedulingPolicy: {} });
  const templates = () => Array.from({ length: 1 + random.below(MAX_TEMPLATES) }, () => ({ name: 'g', ...one() }));
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind,
    metadata: { name: 'web' },
    spec:
      kind === 'PodGroup'
        ? { ...one(), priority: random.pick([-1, 0, 10, 1_000]) }
        : { podGroupTemplates: templates() },
  };
}

function podOrWorkload(random: RandomSource, kind: string, { classes }: RuleNames): object {
  const priorityClassName = random.chance(0.8) ? { priorityClassName: random.pick(classes) } : {};
  const priority = kind === 'Pod' ? { priority: random.pick([-1, 0, 10, 1_000, 2_000_001_000]) } : {};
  const preemptionPolicy = random.pick(['Never', 'PreemptLowerPriority']);
  const object = build(kind, { ...basePodSpec, ...priorityClassName, ...priority, preemptionPolicy });
  // By way of text, so that no two containers share their resources.
  return JSON.parse(JSON.stringify(object)) as object;
}

const resources = {
  requests: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '1Gi', 'example.com/gpu': '1' },
  limits: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '1Gi', 'example.com/gpu': '1' },
};
const basePodSpec = {
  containers: [
    { name: 'main', image: 'i', resources, env: [{ name: 'A', value: 'b' }] },
    { name: 'other', image: 'i', resources: { limits: { cpu: '1', memory: '1Mi' } } },
    { name: 'bare', image: 'i' },
  ],
  initContainers: [{ name: 'init', image: 'i', restartPolicy: 'Always', resources }],
  resources: { requests: { cpu: '2' }, limits: { memory: '3Gi' } },
  overhead: { cpu: '10m' },
  serviceAccountName: 'builder',
  nodeSelector: { disk: 'ssd' },
  terminationGracePeriodSeconds: 30,
};
