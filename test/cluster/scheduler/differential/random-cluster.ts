import type { RandomSource } from '#test/fakes/random-source.ts';

/** What a scenario may use of what kube-scheduler knows, beside CPU and priorities. */
export const FEATURES = [
  'attachLimits',
  'volumeAffinity',
  'devices',
  'hostPorts',
  'spread',
  'antiAffinity',
  'overhead',
  'sidecars',
  'terminating',
  'budgets',
  'otherScheduler',
  'podSlots',
] as const;
export type Feature = (typeof FEATURES)[number];

/** Features that the extender's model of the cluster does not know. */
const OUTSIDE_THE_MODEL: ReadonlySet<Feature> = new Set(['attachLimits', 'volumeAffinity', 'devices']);

export interface StageNode {
  readonly name: string;
  readonly zone: string;
  readonly cpu: number;
  /** Number of pods that fit. */
  readonly slots: number;
  /** Volumes of the CSI driver that can be attached; unlimited if absent. */
  readonly attachLimit?: number;
  readonly devices: number;
}

/** A rule that keeps pods of one app apart, or evenly spread, by a node label. */
export interface Topology {
  readonly app: string;
  readonly by: 'hostname' | 'zone';
}

export interface StagePod {
  readonly name: string;
  readonly app: string;
  readonly priority: number;
  readonly cpu: number;
  readonly graceSeconds: number;
  readonly hostPort?: number;
  /** A volume of the CSI driver; one that is reachable from one node only names the node. */
  readonly volume?: { readonly node?: string };
  readonly usesDevice?: boolean;
  readonly hasOverhead?: boolean;
  readonly sidecarCpu?: number;
  readonly antiAffinity?: Topology;
  readonly spread?: Topology;
}

export interface RunningPod extends StagePod {
  readonly node: string;
  /** Its class opted out of preemption. */
  readonly isProtected: boolean;
  /** Its deletion was requested before the first pod comes: how long it has, and takes; it takes forever if absent. */
  readonly leaving?: { readonly graceSeconds: number; readonly takesSeconds?: number };
}

export interface IncomingPod extends StagePod {
  /** Nodes in the order of its preference, so that no choice between nodes that fit is random. */
  readonly prefers: readonly string[];
  /** Asks the scheduler that never has the extender. */
  readonly isForOther: boolean;
  readonly neverPreempts: boolean;
}

export interface StageBudget {
  readonly app: string;
  readonly minAvailable: number;
}

/** A small cluster, what runs there, and the pods that come one after another. */
export interface StageCluster {
  readonly seed: number;
  readonly features: readonly Feature[];
  readonly nodes: readonly StageNode[];
  readonly running: readonly RunningPod[];
  readonly budgets: readonly StageBudget[];
  readonly incoming: readonly IncomingPod[];
  readonly hasProtected: boolean;
  readonly isOutsideTheModel: boolean;
}

const APPS = ['a', 'b', 'c'];
const TOP = 100;
/** Above the pods that come. */
const ABOVE = 1_000;

/** The scenario of a seed: every second one has protected pods. */
export function randomCluster(seed: number, random: RandomSource): StageCluster {
  const share = seed % 2 === 0 ? 0 : 0.35;
  const features = drawFeatures(share, random);
  const isAttached = share > 0 && features.includes('attachLimits') && random.chance(0.7);
  const given: Given = { has: new Set(features), isTight: isAttached || random.chance(0.7), isAttached, share, random };
  const nodes = Array.from({ length: 3 + random.below(6) }, (_, index) => nodeOf(index, given));
  const priorities = shuffled(
    Array.from({ length: 80 }, (_, value) => value + 1),
    random,
  );
  const running = nodes.flatMap((node) => fill(node, priorities, given));
  const incoming = Array.from({ length: 2 + random.below(3) }, (_, index) => incomingPod(index, nodes, given));
  return {
    seed,
    features,
    nodes,
    running,
    budgets: given.has.has('budgets') ? APPS.slice(0, 2).map((app) => budgetOf(app, running, random)) : [],
    incoming,
    hasProtected: running.some(({ isProtected }) => isProtected),
    isOutsideTheModel: features.some((each) => OUTSIDE_THE_MODEL.has(each)),
  };
}

/** What waits for terminating pods, and protected pods with a reason outside the model, is where most can go wrong. */
function drawFeatures(share: number, random: RandomSource): readonly Feature[] {
  const drawn = shuffled(FEATURES, random).slice(0, 1 + random.below(3));
  const isMore = (each: Feature): boolean =>
    (each === 'terminating' && random.chance(0.5)) || (each === 'attachLimits' && share > 0 && random.chance(0.5));
  return FEATURES.filter((each) => drawn.includes(each) || isMore(each));
}

interface Given {
  readonly has: ReadonlySet<Feature>;
  /** Nodes are full, so that a pod needs room by CPU; else something else is more often in the way. */
  readonly isTight: boolean;
  /**
   * On each node a protected pod has the last volume that can be attached. kube-scheduler proposes it beside others, which
   * must not go without it: the pod that comes would still find no room.
   */
  readonly isAttached: boolean;
  /** Of the running pods that are protected. */
  readonly share: number;
  readonly random: RandomSource;
}

function nodeOf(index: number, { has, isAttached, random }: Given): StageNode {
  return {
    name: `n${index}`,
    zone: `z${index % 2}`,
    cpu: 4 + random.below(5),
    slots: has.has('podSlots') ? 3 + random.below(3) : 110,
    ...(has.has('attachLimits') && { attachLimit: isAttached ? 1 : 1 + random.below(2) }),
    devices: has.has('devices') && random.chance(0.7) ? 1 : 0,
  };
}

function fill(node: StageNode, priorities: number[], given: Given): readonly RunningPod[] {
  const { has, isTight, isAttached, random } = given;
  const pods: RunningPod[] = [];
  let left = isTight ? node.cpu : Math.ceil(node.cpu / 2);
  while (left > 0 && pods.length < Math.min(6, node.slots)) {
    const cpu = 1 + random.below(Math.min(3, left));
    const drawn = runningPod(`r${node.name}-${pods.length}`, node, { ...given, cpu, priorities });
    const pod = asNeighbour(drawn, pods, node, given);
    pods.push(pod);
    left -= cpu + extraCpu(pod);
  }
  return has.has('terminating') && !isAttached && random.chance(0.4) ? withSlow(pods) : pods;
}

function extraCpu({ hasOverhead, sidecarCpu = 0 }: StagePod): number {
  return sidecarCpu + (hasOverhead === true ? 1 : 0);
}

function asNeighbour(drawn: Unprotected, others: readonly RunningPod[], node: StageNode, given: Given): RunningPod {
  const isHolder = given.isAttached && others.length === 0;
  return isHolder ? holderOf(drawn) : withProtection(withinNode(drawn, others, node), given);
}

/** It has the volume, is protected, and does not leave. */
function holderOf({ leaving, ...pod }: Unprotected): RunningPod {
  const priority = leaving === undefined ? pod.priority : pod.priority % ABOVE;
  return { ...pod, priority, volume: {}, isProtected: true };
}

/**
 * The most important pod that the pods which come outrank has an hour to terminate, and takes longer: waiting would be in
 * vain. The others are less important than all pods elsewhere, so kube-scheduler preempts them, unless the slow pod is
 * counted among the victims.
 */
function withSlow(pods: readonly RunningPod[]): readonly RunningPod[] {
  const [first] = pods.filter(({ priority }) => priority < TOP).toSorted((a, b) => b.priority - a.priority);
  return pods.map((each) =>
    each === first
      ? { ...each, isProtected: false, leaving: FOREVER }
      : { ...each, priority: each.priority < TOP ? each.priority - TOP : each.priority },
  );
}

/** Without the port that another pod has, and the volume that can no longer be attached. */
function withinNode(
  drawn: Unprotected,
  others: readonly RunningPod[],
  { attachLimit = Infinity }: StageNode,
): Unprotected {
  const { hostPort, volume, ...pod } = drawn;
  const isPortFree = !others.some((each) => each.hostPort !== undefined);
  const isAttachable = others.filter((each) => each.volume !== undefined).length < attachLimit;
  return {
    ...pod,
    ...(hostPort !== undefined && isPortFree && { hostPort }),
    ...(volume !== undefined && isAttachable && { volume }),
  };
}

/** Most pods whose volumes use up what a node can attach are protected, so that no other pod makes room in their place. */
function withProtection(pod: Unprotected, { has, share, random }: Given): RunningPod {
  const isHolder = share > 0 && has.has('attachLimits') && pod.volume !== undefined;
  return { ...pod, isProtected: random.chance(isHolder ? 0.85 : share) };
}

type Unprotected = Omit<RunningPod, 'isProtected'>;

interface Drawing extends Given {
  readonly cpu: number;
  readonly priorities: number[];
}

function runningPod(name: string, node: StageNode, given: Drawing): Unprotected {
  const { has, random, priorities, cpu } = given;
  const isLeaving = has.has('terminating') && random.chance(0.35);
  return {
    ...podOf(name, { ...given, cpu }),
    priority: (priorities.pop() ?? 0) + (isLeaving && random.chance(0.4) ? ABOVE : 0),
    node: node.name,
    ...(has.has('volumeAffinity') && random.chance(0.4) && { volume: { node: node.name } }),
    ...(isLeaving && { leaving: random.pick(LEAVING) }),
  };
}

const FOREVER = { graceSeconds: 3_600 };
const LEAVING: readonly NonNullable<RunningPod['leaving']>[] = [
  FOREVER,
  { graceSeconds: 3_600, takesSeconds: 3 },
  { graceSeconds: 20, takesSeconds: 20 },
  { graceSeconds: 4, takesSeconds: 2 },
];

function incomingPod(index: number, nodes: readonly StageNode[], given: Given): IncomingPod {
  const { has, random, share } = given;
  const cpu = 1 + random.below(given.isTight ? 5 : 3);
  const isForOther = has.has('otherScheduler') && random.chance(0.4);
  const where = volumeOf(nodes, given);
  return {
    ...podOf(`i${index}`, { ...given, cpu }),
    priority: random.chance(0.75) ? TOP + index * 10 + random.below(10) : 1 + random.below(80),
    ...where,
    ...(has.has('devices') && random.chance(0.6) && { usesDevice: true }),
    prefers: shuffled(nodes, random).map(({ name }) => name),
    isForOther,
    // Only the delete gate of the webhook keeps a scheduler without the extender from protected pods.
    neverPreempts: random.chance(0.1) || (isForOther && share > 0),
  };
}

/** The volume of a pod that comes, where it is more than chance. */
function volumeOf(nodes: readonly StageNode[], { has, random, isAttached }: Given): Pick<StagePod, 'volume'> {
  const affinity = has.has('volumeAffinity') && random.chance(0.5) ? { node: random.pick(nodes).name } : undefined;
  if (isAttached) return { volume: {} };
  return affinity === undefined ? {} : { volume: affinity };
}

/** What running and incoming pods have in common. */
function podOf(name: string, { has, random, cpu }: Given & { readonly cpu: number }): Omit<StagePod, 'priority'> {
  const app = random.pick(APPS);
  const by = random.pick(['hostname', 'zone'] as const);
  const some = (feature: Feature, probability: number): boolean => has.has(feature) && random.chance(probability);
  return {
    name,
    app,
    cpu,
    graceSeconds: 1 + random.below(3),
    ...(some('attachLimits', 0.8) && { volume: {} }),
    ...(some('hostPorts', 0.5) && { hostPort: 8080 }),
    ...(some('overhead', 0.4) && { hasOverhead: true }),
    ...(some('sidecars', 0.4) && { sidecarCpu: 1 }),
    ...(some('antiAffinity', 0.35) && { antiAffinity: { app: random.pick(APPS), by } }),
    ...(some('spread', 0.5) && { spread: { app, by } }),
  };
}

function budgetOf(app: string, running: readonly RunningPod[], random: RandomSource): StageBudget {
  const members = running.filter((each) => each.app === app && each.leaving === undefined).length;
  return { app, minAvailable: Math.max(0, members - random.below(2)) };
}

function shuffled<T>(items: readonly T[], random: RandomSource): T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
