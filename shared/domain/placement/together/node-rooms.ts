import { memoize } from '#shared/domain/base/memoize.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { interPodAffinity } from '#shared/domain/placement/filters/inter-pod-affinity.ts';
import { type Need, needsOf, type PodAwareFilter } from '#shared/domain/placement/filters/node-filters.ts';
import { hardConstraints } from '#shared/domain/placement/filters/pod-topology-spread.ts';
import { NODE_FILTERS, unmodelledNeeds } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { areExact, type NodeEntry, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import { hostPortsOf } from '#shared/domain/snapshot/placed-pod.ts';

/** A pod that is to get a node. */
export interface PodToPlace {
  readonly pod: Pod;
  readonly needs: readonly Need[];
  /** Pods of one kind may be on the same nodes. */
  readonly kind: PodKind;
}

export interface PodKind {
  /** By number of the node: 1 where filters let such a pod be. */
  readonly allowed: Uint8Array;
  readonly allowedCount: number;
}

type IsCounted = (uid: string, node: string) => boolean;

const NODES_PER_STEP = 200;

/** What nodes have left, in one piece of memory: pod slots, then each resource by column. */
export class NodeRooms {
  readonly entries: readonly NodeEntry[];
  readonly #width: number;
  readonly #free: Float64Array;
  readonly #indexes: ReadonlyMap<string, number>;
  /** What the largest node has of a column. */
  readonly #mostOf = memoize((column: number): number =>
    this.entries.reduce((most, { allocatable }) => Math.max(most, Number(allocatable[column] ?? 0)), 0),
  );

  private constructor({ nodes }: Pick<ClusterSnapshot, 'nodes'>) {
    this.entries = [...nodes.values()];
    this.#indexes = new Map(this.entries.map(({ node }, index) => [node.name, index]));
    this.#width = this.entries.reduce((width, { allocatable, occupancy: { requested } }) => {
      return Math.max(width, 1 + allocatable.length, 1 + requested.length);
    }, 1);
    this.#free = new Float64Array(this.entries.length * this.#width);
  }

  /** `isCounted` says whether the nomination of a pod to a node counts, which it does not if the pod is placed anew. */
  static *read(snapshot: Pick<ClusterSnapshot, 'nodes'>, isCounted: IsCounted): Steps<NodeRooms> {
    const rooms = new NodeRooms(snapshot);
    for (const [index, entry] of rooms.entries.entries()) {
      rooms.#read(index, entry, isCounted);
      if (index % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
    }
    return rooms;
  }

  indexOf(node: string): number | undefined {
    return this.#indexes.get(node);
  }

  /** Whether one more such pod fits. */
  isEnough(index: number, needs: readonly Need[]): boolean {
    if ((this.#free[index * this.#width] as number) < 1) return false;
    return needs.every(({ column, amount }) => this.freeOf(index, column) >= Number(amount));
  }

  /**
   * The node with the least left after the pod, in multiples of what it needs; the first of equals. `undefined` if it
   * fits on none. The inner loop of a plan: it reads numbers only.
   */
  tightest({ kind: { allowed }, needs }: PodToPlace, except = -1): number | undefined {
    const free = this.#free;
    const width = this.#width;
    const columns = needs.map(({ column }) => (column < 0 || column + 1 >= width ? -1 : column + 1));
    if (columns.includes(-1)) return undefined;
    const amounts = needs.map(({ amount }) => Number(amount));
    let [best, least] = [-1, Infinity];
    for (let index = 0; index < allowed.length; index += 1) {
      if (allowed[index] !== 1 || index === except) continue;
      const left = leftIn(free, index * width, columns, amounts);
      if (left >= least) continue;
      best = index;
      least = left;
    }
    return best < 0 ? undefined : best;
  }

  freeOf(index: number, column: number): number {
    return column < 0 || column + 1 >= this.#width ? 0 : (this.#free[index * this.#width + column + 1] as number);
  }

  /** The largest part of all nodes that the pod takes of one resource. */
  shareOf(needs: readonly Need[]): number {
    return Math.max(0, ...needs.map(({ column, amount }) => Number(amount) / this.#mostOf(column)));
  }

  take(index: number, needs: readonly Need[], times: number): void {
    const start = index * this.#width;
    this.#free[start] = (this.#free[start] as number) - times;
    for (const { column, amount } of needs) {
      if (column < 0 || column + 1 >= this.#width) continue;
      this.#free[start + column + 1] = this.freeOf(index, column) - times * Number(amount);
    }
  }

  /** A pod is about to get this node. */
  expect(pod: Pod, node: string, snapshot: ClusterSnapshot): void {
    const index = this.#indexes.get(node);
    if (index !== undefined) this.take(index, needsOf(pod, snapshot), 1);
  }

  #read(index: number, entry: NodeEntry, isCounted: IsCounted): void {
    const sheet = sheetOf(entry);
    const start = index * this.#width;
    this.#free.set(sheet.numbers.subarray(0, sheet.width + 1), start);
    // Sums of such amounts may be wrong in doubles.
    if (!sheet.isExact) this.#free[start] = 0;
    for (const { pod, row } of entry.occupancy.nominated) {
      if (!isCounted(pod.uid, entry.node.name)) continue;
      this.#free[start] = (this.#free[start] as number) - 1;
      for (let column = 0; column + 1 < this.#width; column += 1)
        this.#free[start + column + 1] = this.freeOf(index, column) - Number(row[column] ?? 0);
    }
  }
}

/** What a node has, in multiples of the amounts; `Infinity` if it has too little of one. */
function leftIn(free: Float64Array, start: number, columns: readonly number[], amounts: readonly number[]): number {
  if ((free[start] as number) < 1) return Infinity;
  let left = 0;
  for (let at = 0; at < columns.length; at += 1) {
    const has = free[start + (columns[at] as number)] as number;
    const amount = amounts[at] as number;
    if (has < amount) return Infinity;
    left += has / amount;
  }
  return left;
}

/** What of a pod depends on where the others are put, or is not modelled. */
export function isFixed(pod: Pod, snapshot: ClusterSnapshot): string | undefined {
  const { scheduling } = pod.spec;
  const { podAffinity, podAntiAffinity } = scheduling;
  if (podAffinity.length + podAntiAffinity.length > 0) return 'required affinity to pods';
  if (hardConstraints(scheduling).length > 0) return 'required spread';
  if (hostPortsOf(pod).length > 0) return 'host ports';
  const [unmodelled] = unmodelledNeeds(pod, snapshot);
  if (unmodelled !== undefined) return `${UNMODELLED[unmodelled.kind]} ${unmodelled.name}`;
  return needsOf(pod, snapshot).every(({ amount }) => areExact([amount])) ? undefined : 'requests of that size';
}

const UNMODELLED = { Volume: 'volume', ResourceClaim: 'resource claim', ExtendedResource: 'resource' } as const;

const FILTERED_PER_STEP = 10_000;
/** Reading a pod takes as long as filtering so many nodes. */
const POD_WORK = 100;

/** The pods with the nodes that filters let them be on. Pods of one template are looked at once. */
export function* readPodsToPlace(
  { snapshot, pods }: { readonly snapshot: ClusterSnapshot; readonly pods: readonly Pod[] },
  rooms: NodeRooms,
): Steps<readonly PodToPlace[]> {
  const kinds = new Map<string, PodKind>();
  const found: PodToPlace[] = [];
  let filtered = 0;
  for (const pod of pods) {
    const towards = yield* interPodAffinity(pod, snapshot);
    const key = `${kindKey(pod)}${towards === undefined ? '' : pod.uid}`;
    const kind = kinds.get(key) ?? kindOf(pod, towards, rooms);
    filtered += kinds.has(key) ? POD_WORK : rooms.entries.length;
    kinds.set(key, kind);
    found.push({ pod, kind, needs: needsOf(pod, snapshot) });
    if (filtered < FILTERED_PER_STEP) continue;
    filtered = 0;
    yield;
  }
  return found;
}

/** What decides of a pod on which nodes it may be. */
function kindKey({ spec: { scheduling, nodeName } }: Pod): string {
  const { nodeSelector, tolerations, nodeAffinity } = scheduling;
  return JSON.stringify([nodeName, [...nodeSelector], tolerations, nodeAffinity]);
}

function kindOf(pod: Pod, towards: PodAwareFilter | undefined, { entries }: NodeRooms): PodKind {
  const filters = NODE_FILTERS.map((prepare) => prepare(pod));
  const allowed = new Uint8Array(entries.length);
  let allowedCount = 0;
  for (const [index, entry] of entries.entries()) {
    // The taint of a node that is not ready may still be missing.
    if (entry.node.isUnready === true || filters.some((filter) => filter(entry) !== undefined)) continue;
    // Pods that are there may keep it away.
    if (towards?.open(entry).refusal() !== undefined) continue;
    allowed[index] = 1;
    allowedCount += 1;
  }
  return { allowed, allowedCount };
}

/** The need of which the nodes have least for this pod, and the most that one of them has. */
export function largestHole({ kind, needs }: PodToPlace, rooms: NodeRooms) {
  const holes = needs.map((need) => {
    let hole = 0;
    for (let index = 0; index < rooms.entries.length; index += 1)
      if (kind.allowed[index] === 1) hole = Math.max(hole, rooms.freeOf(index, need.column));
    return { need, hole, part: hole / Number(need.amount) };
  });
  const [least] = holes.sort((a, b) => a.part - b.part);
  return { need: least?.need, hole: least?.hole ?? 0 };
}
