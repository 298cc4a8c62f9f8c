import type { QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { GangFacts } from '#shared/domain/gang/gang.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ChildOf } from '#shared/domain/queue/child-queues.ts';
import type { PassSnapshot } from '#shared/domain/queue/pass-stages.ts';
import { type QueueAmounts, ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import { AmountsByQueue } from '#shared/domain/queue/usage.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import type { BelievedNodes } from './believed-nodes.ts';
import { podCounter } from './counted-pods.ts';
import type { OpenClaim } from './forged-marks.ts';
import { gangsOf, type QueueGang } from './gangs.ts';
import { waitTogether } from './wait-together.ts';
import type { KeptPlace, PlacesInPass } from './kept-places.ts';
import type { NodeRoom, NodeRoomInput } from './node-room.ts';
import { type ReturnedShare, type Standing, UnplacedPods } from './unplaced-pods.ts';
import { chargedQueue, type FindQueue, noteWanted, queueFinder, untracked } from './queue-finder.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { QueuedPods } from './queued-pods.ts';
import { ROLLOUT_MS } from './rollout.ts';

export interface HomelessPod {
  readonly pod: QueuedPod;
  readonly because: Because;
  /** Whether its queue is about to be made. */
  readonly isExpected: boolean;
  /** Where it would stand, if it is known. */
  readonly queue?: string;
  /** The gang that it names, as `namespace/name`. */
  readonly gang?: string;
}

export interface QueuePassInput extends Pick<PassSnapshot, 'reclaimBy' | 'isReclaiming'> {
  readonly pods: Pick<
    QueuedPods,
    | 'open'
    | 'placed'
    | 'outside'
    | 'amountsOf'
    | 'lost'
    | 'get'
    | 'ending'
    | 'values'
    | 'claimOf'
    | 'places'
    | 'gangs'
    | 'marked'
  >;
  readonly now: Instant;
  /** How far nodes are believed, across passes; without it they are. */
  readonly believed?: BelievedNodes;
  /** Judges the pods without a node across passes. */
  readonly promises?: UnplacedPods;
  /** Whether others are making room for a pod that was let in. */
  readonly isRoomMade?: (uid: string) => boolean;
  /** Why the API server takes no change of a waiting pod for now. */
  readonly whyRefused?: (uid: string) => Because | undefined;
  /** Why the gang of this name does not go in now although its pods are there. */
  readonly whyGangWaits?: (gang: string) => Because | undefined;
  /** Whether a gang has been half of one for longer than it may. */
  readonly isHalf?: (gang: string) => boolean;
  /** What PodGroups say. */
  readonly minOfGroup?: GangFacts['minOf'];
  /** Whether the replacements of disrupted pods go in before others of the same priority. */
  readonly replacements: ReclaimSettings['replacements'];
  readonly snapshot: NodeRoomInput['snapshot'];
  readonly directory: QueueDirectory;
  /** What the queue root declares; `undefined` means what the nodes have. */
  readonly capacity: QueueAmounts | undefined;
}

const PODS_PER_STEP = 500;
/** Looking for a queue takes as long as so many other pods, where there are a thousand queues. */
const PODS_PER_SEARCH = 250;

/** The pods of a pass by what becomes of them, and what queues take. */
export class SortedPods {
  waiting: WaitingPod[] = [];
  /** The pods that take the place of one that was deleted. */
  readonly replacing: WaitingPod[] = [];
  readonly places: PlacesInPass;
  readonly released: QueuedPod[] = [];
  readonly homeless: HomelessPod[] = [];
  /** Those that name a gang and belong to none, and why. */
  readonly outOfGang: HomelessPod[] = [];
  gangs: readonly QueueGang[] = [];
  readonly hasGangs: boolean;
  readonly isOfGang: (uid: string) => boolean;
  readonly wantedQueues = new Map<string, ChildOf>();
  readonly unplaced: QueuedPod[] = [];
  readonly returned: ReturnedShare[] = [];
  readonly claims = { own: new Array<QueuedPod>(), others: new Array<QueuedPod>() };
  readonly standingOf: (pod: QueuedPod) => Standing;
  readonly whyRefused: NonNullable<QueuePassInput['whyRefused']>;
  readonly admitted = new AmountsByQueue();
  readonly used = new AmountsByQueue();
  /** What gave its share back and may start at any time. */
  readonly latent = new AmountsByQueue();
  /** Of all pods of the queue, waiting ones included. */
  readonly requested = new AmountsByQueue();
  readonly find: FindQueue;
  readonly capped: NodeRoom['capped'];
  readonly counted: (requests: QueueAmounts) => QueueAmounts;
  /** Queues in which a pod went in against another one a short time ago. */
  readonly #surging: ReadonlySet<string>;
  #work = 0;

  constructor(input: QueuePassInput, { capped }: NodeRoom) {
    this.capped = capped;
    const { gangs } = input.pods;
    this.hasGangs = gangs.size > 0;
    this.isOfGang = (uid) => gangs.keyOf(uid) !== undefined;
    this.places = input.pods.places.inPass({ now: input.now, ending: () => input.pods.ending() });
    this.#surging = surgingQueues(input);
    this.counted = podCounter(input.directory.tree, input.capacity);
    const find = queueFinder(input, () => void (this.#work += PODS_PER_SEARCH));
    this.find = noteWanted(find, this.wantedQueues);
    this.standingOf = (input.promises ?? new UnplacedPods()).inPass(input.snapshot, input.now, input.isRoomMade);
    this.whyRefused = input.whyRefused ?? (() => undefined);
  }

  /** Whether the share that a pod has left is still kept in this queue. */
  keeps({ mayBeSurge }: KeptPlace, queueName: string): boolean {
    return !mayBeSurge || !this.#surging.has(queueName);
  }

  /** Counts a pod; whether so much was done that the pass should yield. */
  isStepDone(): boolean {
    this.#work += 1;
    if (this.#work < PODS_PER_STEP) return false;
    this.#work = 0;
    return true;
  }
}

function surgingQueues({ pods, now }: QueuePassInput): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { admitted } of pods.marked())
    if (admitted !== undefined && now - admitted.at < ROLLOUT_MS) names.add(admitted.queue);
  return names;
}

export function* sortPods(input: QueuePassInput, open: readonly QueuedPod[], room: NodeRoom): Steps<SortedPods> {
  const sorted = new SortedPods(input, room);
  yield* sortOpen(input, sorted, open, room);
  yield* sortGangs(input, sorted);
  yield* sortUntracked(input, sorted);
  noteGone(input, sorted, room);
  return sorted;
}

function* sortOpen(
  { pods, snapshot, now, replacements }: QueuePassInput,
  sorted: SortedPods,
  open: readonly QueuedPod[],
  room: NodeRoom,
): Steps<void> {
  for (const sums of [sorted.admitted, sorted.used, sorted.requested]) {
    for (const placed of [pods.placed, room.released]) sums.addAll(placed, sorted.counted);
  }
  const isTurn = replacements === 'First' ? pods.lost.turns(now) : () => false;
  for (const pod of open) {
    if (sorted.isStepDone()) yield;
    if (!isWaiting(pod)) charge(sorted, pod, pods.claimOf(pod.uid));
    else if (!isManaged(snapshot.namespaces.get(pod.namespace))) sorted.released.push(pod);
    else queue(sorted, pod, isTurn(pod));
  }
  for (const place of sorted.places.left()) {
    const name = chargedQueue(place, sorted.find);
    if (sorted.keeps(place, name)) hold(sorted, name, place.requests);
  }
}

/**
 * A pod that was let in, or that never had the gate, takes room of its queue until it has ended, or until it has found no
 * node for too long.
 */
function charge(sorted: SortedPods, pod: QueuedPod, claim: OpenClaim | undefined): void {
  const { unplaced, find, capped } = sorted;
  if (pod.admitted !== undefined && !pod.isBound) unplaced.push(pod);
  const name = chargedQueue(pod, find);
  if (claim !== undefined) judgeClaim(sorted, pod, { claim, name });
  const standing = sorted.standingOf(pod);
  if (standing.kind === 'Returned') {
    sorted.returned.push({ pod, queue: name, because: standing.because });
    if (standing.isLatent) sorted.latent.add(name, sorted.counted(pod.requests));
    return;
  }
  if (standing.kind === 'Again') {
    wait(sorted, pod.asWaiting(name));
    return;
  }
  const requests = capped.get(pod.uid) ?? pod.requests;
  if (pod.isBound) use(sorted, name, requests);
  else hold(sorted, name, requests);
}

/** A queue that is missing may come back. */
function judgeClaim({ claims }: SortedPods, pod: QueuedPod, { claim, name }: { claim: OpenClaim; name: string }): void {
  if (claim.isProven || claim.queue === name) claims.own.push(pod);
  else if (name !== ROOT_QUEUE) claims.others.push(pod);
}

function queue(sorted: SortedPods, pod: QueuedPod, goesFirst: boolean): void {
  const { homeless, find } = sorted;
  // It never runs.
  if (pod.unplaced?.deletion !== undefined) return;
  const found = find(pod);
  if (found.kind === 'none') {
    homeless.push({ pod, because: found.because, isExpected: found.child !== undefined });
    return;
  }
  const refused = sorted.whyRefused(pod.uid);
  if (refused !== undefined) {
    sorted.returned.push({ pod, queue: found.name, because: refused });
    return;
  }
  const waits = pod.asWaiting(found.name);
  const isOfQueue = (place: KeptPlace): boolean =>
    chargedQueue(place, find) === found.name && sorted.keeps(place, found.name);
  // A gang goes in whole, and so do the pods that replace it.
  if (!sorted.isOfGang(pod.uid) && sorted.places.take(pod, found.name, isOfQueue)) {
    sorted.replacing.push(waits);
    hold(sorted, found.name, pod.requests);
  } else wait(sorted, goesFirst ? { ...waits, goesFirst } : waits);
}

/** Counts what has no node yet. */
function hold({ admitted, requested, counted }: SortedPods, queueName: string, requests: QueueAmounts): void {
  const amounts = counted(requests);
  for (const sums of [admitted, requested]) sums.add(queueName, amounts);
}

/** Counts what is on a node. */
function use(sorted: SortedPods, queueName: string, requests: QueueAmounts): void {
  hold(sorted, queueName, requests);
  sorted.used.add(queueName, sorted.counted(requests));
}

function wait({ waiting, requested, counted }: SortedPods, pod: WaitingPod): void {
  const requests = counted(pod.requests);
  requested.add(pod.queue, requests);
  waiting.push(requests === pod.requests ? pod : { ...pod, requests });
}

/** What belongs to no gang, or to one that cannot start, waits and draws nothing to its queue meanwhile. */
function* sortGangs({ pods, directory, ...input }: QueuePassInput, sorted: SortedPods): Steps<void> {
  if (!sorted.hasGangs) return;
  const { find, counted, outOfGang, requested } = sorted;
  const asked = { gangs: pods.gangs, tree: directory.tree, find, counted, minOf: input.minOfGroup };
  const { gangs, refused } = yield* gangsOf(asked);
  sorted.gangs = gangs;
  const { tree } = directory;
  const isStrict = (name: string): boolean => tree.queues[tree.indexes.get(name) ?? -1]?.ordering === 'Strict';
  const { waiting, kept } = waitTogether({
    gangs,
    refused,
    isStrict,
    isHalf: input.isHalf ?? (() => false),
    waiting: sorted.waiting,
    whyNotNow: input.whyGangWaits,
  });
  sorted.waiting = waiting;
  for (const { pod, because } of kept) {
    requested.add(pod.queue, pod.requests, -1);
    const queued = pods.get(pod.uid);
    const gang = pods.gangs.keyOf(pod.uid);
    if (queued !== undefined && gang !== undefined)
      outOfGang.push({ pod: queued, because, isExpected: false, queue: pod.queue, gang });
  }
}

/** Pods on nodes that were there before their namespace was managed count for their queue; the others stand outside. */
function* sortUntracked({ snapshot, pods }: QueuePassInput, sorted: SortedPods): Steps<void> {
  for (const { pod } of pods.outside()) {
    if (sorted.isStepDone()) yield;
    if (!isManaged(snapshot.namespaces.get(pod.namespace))) continue;
    const requests = sorted.capped.get(pod.uid) ?? pods.amountsOf(pod);
    use(sorted, chargedQueue(untracked(pod), sorted.find), requests);
  }
}

function noteGone({ pods }: QueuePassInput, { returned, find }: SortedPods, { gone }: NodeRoom): void {
  for (const { pod, because } of gone) {
    const queued = pods.get(pod.uid);
    // One without a node is told why as any other of these.
    if (queued?.isBound === true) returned.push({ pod: queued, queue: chargedQueue(queued, find), because });
  }
}
