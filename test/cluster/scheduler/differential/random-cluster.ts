import type { RandomSource } from '#test/fakes/random-source.ts';
import {
  ABOVE_OTHER_VICTIMS,
  FOREVER,
  type Shape,
  SHAPES,
  SLOW_NODE,
  TOP,
  withLeastProtected,
  withSlow,
} from './shapes.ts';
import {
  type Feature,
  FEATURES,
  type IncomingPod,
  OUTSIDE_THE_MODEL,
  type RunningPod,
  type StageBudget,
  type StageCluster,
  type StageNode,
  type StagePod,
} from './stage-cluster.ts';

const APPS = ['a', 'b', 'c'];
/** Above the pods that come. */
const ABOVE = 1_000;
/** The scenario of a seed: every second one has protected pods, every third one a shape. */
export function randomCluster(seed: number, random: RandomSource): StageCluster {
  const share = seed % 2 === 0 ? 0 : 0.35;
  const shape = SHAPES.get(seed % 6);
  const features = drawFeatures({ share, shape }, random);
  const isAttached = share > 0 && features.includes('attachLimits') && random.chance(0.7);
  const isTight = isAttached || random.chance(0.7) || shape !== undefined;
  const given: Given = { has: new Set(features), isTight, isAttached, shape, share, random };
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
function drawFeatures({ share, shape }: Pick<Given, 'share' | 'shape'>, random: RandomSource): readonly Feature[] {
  const drawn = shuffled(FEATURES, random).slice(0, 1 + random.below(3));
  const isMore = (each: Feature): boolean =>
    (each === 'terminating' && (random.chance(0.5) || shape === 'oneSlow')) ||
    (each === 'attachLimits' && share > 0 && random.chance(0.5));
  const isLess = (each: Feature): boolean =>
    shape === 'leastProtected' && (each === 'terminating' || OUTSIDE_THE_MODEL.has(each));
  return FEATURES.filter((each) => (drawn.includes(each) || isMore(each)) && !isLess(each));
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
  readonly shape: Shape | undefined;
  /** Of the running pods that are protected. */
  readonly share: number;
  readonly random: RandomSource;
}

function nodeOf(index: number, { has, isAttached, shape, random }: Given): StageNode {
  const cpu = 4 + random.below(shape === 'oneSlow' ? 3 : 5);
  return {
    name: `n${index}`,
    zone: `z${index % 2}`,
    cpu: shape === 'oneSlow' && `n${index}` === SLOW_NODE.name ? SLOW_NODE.cpu : cpu,
    slots: has.has('podSlots') ? 3 + random.below(3) : 110,
    ...(has.has('attachLimits') && { attachLimit: isAttached ? 1 : 1 + random.below(2) }),
    devices: has.has('devices') && random.chance(0.7) ? 1 : 0,
  };
}

function fill(node: StageNode, priorities: number[], given: Given): readonly RunningPod[] {
  const { isTight, shape, random } = given;
  const pods: RunningPod[] = [];
  const most = shape === undefined ? { pods: 6, cpu: 3 } : { pods: 8, cpu: 2 };
  let left = isTight ? node.cpu : Math.ceil(node.cpu / 2);
  while (left > 0 && pods.length < Math.min(most.pods, node.slots)) {
    const cpu = 1 + random.below(Math.min(most.cpu, left));
    const drawn = runningPod(`r${node.name}-${pods.length}`, node, { ...given, cpu, priorities });
    const pod = asNeighbour(drawn, pods, node, given);
    pods.push(pod);
    left -= cpu + extraCpu(pod);
  }
  return shaped(pods, node, given);
}

function shaped(pods: readonly RunningPod[], { name }: StageNode, given: Given): readonly RunningPod[] {
  const { has, shape, isAttached, random } = given;
  if (shape === 'oneSlow') return name === SLOW_NODE.name ? withSlow(pods, ABOVE_OTHER_VICTIMS) : pods;
  if (shape === 'leastProtected') return withLeastProtected(pods);
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
  const isLeaving = has.has('terminating') && given.shape !== 'oneSlow' && random.chance(0.35);
  return {
    ...podOf(name, { ...given, cpu }),
    priority: (priorities.pop() ?? 0) + (isLeaving && random.chance(0.4) ? ABOVE : 0),
    node: node.name,
    ...(has.has('volumeAffinity') && random.chance(0.4) && { volume: { node: node.name } }),
    ...(isLeaving && { leaving: random.pick(LEAVING) }),
  };
}

const LEAVING: readonly NonNullable<RunningPod['leaving']>[] = [
  FOREVER,
  { graceSeconds: 3_600, takesSeconds: 3 },
  { graceSeconds: 20, takesSeconds: 20 },
  { graceSeconds: 4, takesSeconds: 2 },
];

function incomingPod(index: number, nodes: readonly StageNode[], given: Given): IncomingPod {
  const { has, random, share, shape } = given;
  const cpu = 1 + random.below(incomingLimit(given));
  const isForOther = has.has('otherScheduler') && random.chance(0.4);
  const where = volumeOf(nodes, given);
  return {
    ...podOf(`i${index}`, { ...given, cpu }),
    priority: random.chance(0.75) || shape !== undefined ? TOP + index * 10 + random.below(10) : 1 + random.below(80),
    ...where,
    ...(has.has('devices') && random.chance(0.6) && { usesDevice: true }),
    prefers: shuffled(nodes, random).map(({ name }) => name),
    isForOther,
    // Only the delete gate of the webhook keeps a scheduler without the extender from protected pods.
    neverPreempts: (shape === undefined && random.chance(0.1)) || (isForOther && share > 0),
  };
}

function incomingLimit({ isTight, shape }: Given): number {
  if (shape !== undefined) return 2;
  return isTight ? 5 : 3;
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
