import type { Steps } from '#shared/domain/base/steps.ts';
import { podName } from '#shared/domain/base/texts.ts';
import type { Deletion, Pod } from '#shared/domain/pod/pod.ts';
import {
  type Gang,
  type GangFacts,
  gangKey,
  type GangMember,
  type GangWish,
  groupGangs,
  type RefusedMembers,
} from '#shared/domain/gang/gang.ts';
import { tooLarge } from '#shared/domain/queue/gang-too-large.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { gangRunOf, gangWishOf } from '#shared/kube/annotations/gangs.ts';
import { chargedQueue, type FindQueue } from './queue-finder.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';

/** A pod of a queue that names a gang. */
export interface QueueMember extends GangMember {
  readonly pod: QueuedPod;
  readonly requests: QueueAmounts;
}

export interface QueueGang extends Gang<QueueMember> {
  /** Of its pods that still end on their nodes. */
  readonly deletions: readonly Deletion[];
}

/** What its labels say is read once. */
interface NamedPod {
  readonly pod: QueuedPod;
  readonly gang: GangWish;
}

/** The pods of queues that name a gang, by gang. Empty where none does. */
export class NamedGangs {
  readonly #members = new Map<string, Map<string, NamedPod>>();
  /** The gang of a pod, by UID. */
  readonly #keys = new Map<string, string>();
  /** UIDs of those that have succeeded, by gang and run, as long as the API server has them and they are not deleted. */
  readonly #succeeded = new Map<string, Set<string>>();
  readonly #keyOfSucceeded = new Map<string, string>();

  get size(): number {
    return this.#members.size;
  }

  /** The gang of a pod, as `namespace/name`. */
  keyOf(uid: string): string | undefined {
    return this.#keys.get(uid);
  }

  values(): Iterable<ReadonlyMap<string, NamedPod>> {
    return this.#members.values();
  }

  /** Its labels may name another gang than before. */
  put(pod: QueuedPod): void {
    const { uid, gang } = pod;
    const key = gang && gangKey(pod.namespace, gang.name);
    if (this.#keys.get(uid) !== key) this.remove(uid);
    if (gang === undefined || key === undefined) return;
    this.#keys.set(uid, key);
    const members = this.#members.get(key) ?? new Map<string, NamedPod>();
    this.#members.set(key, members.set(uid, { pod, gang }));
  }

  remove(uid: string): void {
    const key = this.#keys.get(uid);
    if (key === undefined) return;
    this.#keys.delete(uid);
    const members = this.#members.get(key);
    if (members?.delete(uid) === true && members.size === 0) this.#members.delete(key);
  }

  noteEnd(pod: Pod): void {
    const [gang, run] = [gangWishOf(pod), gangRunOf(pod)];
    const counts = pod.status.phase === 'Succeeded' && pod.deletion === undefined;
    if (gang === undefined || run === undefined || !counts) return;
    const key = succeededKey(gangKey(pod.namespace, gang.name), run);
    this.#succeeded.set(key, (this.#succeeded.get(key) ?? new Set()).add(pod.uid));
    this.#keyOfSucceeded.set(pod.uid, key);
  }

  /** The API server has a pod no longer. */
  gone(uid: string): void {
    const key = this.#keyOfSucceeded.get(uid);
    if (key === undefined) return;
    this.#keyOfSucceeded.delete(uid);
    const uids = this.#succeeded.get(key);
    if (uids?.delete(uid) === true && uids.size === 0) this.#succeeded.delete(key);
  }

  succeeded(gang: string, run: string): number {
    return this.#succeeded.get(succeededKey(gang, run))?.size ?? 0;
  }
}

function succeededKey(gang: string, run: string): string {
  return `${gang} ${run}`;
}

interface GangInput {
  readonly gangs: NamedGangs;
  readonly tree: QueueTree;
  readonly find: FindQueue;
  readonly counted: (requests: QueueAmounts) => QueueAmounts;
  readonly minOf?: GangFacts['minOf'] | undefined;
}

interface GangsOfQueues {
  readonly gangs: readonly QueueGang[];
  readonly refused: readonly RefusedMembers<QueueMember>[];
}

const MEMBERS_PER_STEP = 500;

/** The gangs of all queues, and the waiting pods that name a gang and belong to none. */
export function* gangsOf(input: GangInput): Steps<GangsOfQueues> {
  const gangs: QueueGang[] = [];
  const refused: RefusedMembers<QueueMember>[] = [];
  let looked = 0;
  for (const named of input.gangs.values()) {
    looked += named.size;
    if (looked >= MEMBERS_PER_STEP) yield void (looked = 0);
    const members = Array.from(named.values()).filter(({ pod }) => pod.deletion === undefined);
    const groups = groupGangs(
      members.flatMap((each) => memberOf(each, input)),
      factsOf(input),
    );
    for (const each of groups.refused) refused.push(each);
    for (const gang of groups.gangs) {
      const because = tooLarge(gang, input.tree);
      const outside = gang.members.filter(({ isIn }) => !isIn);
      if (because === undefined || outside.length < gang.members.length)
        gangs.push({ ...gang, deletions: deletionsAmong(named) });
      if (because !== undefined) refused.push({ members: outside, because });
    }
  }
  return { gangs, refused };
}

function deletionsAmong(named: ReadonlyMap<string, NamedPod>): readonly Deletion[] {
  return Array.from(named.values()).flatMap(({ pod: { isBound, deletion } }) => (isBound ? (deletion ?? []) : []));
}

function factsOf({ gangs, minOf = () => 'None' }: GangInput): GangFacts {
  return { minOf, succeeded: (gang, run) => gangs.succeeded(gang, run) };
}

/** A waiting pod without a queue is in no gang either. */
function memberOf({ pod, gang }: NamedPod, { find, counted }: GangInput): readonly QueueMember[] {
  const { uid, gangRun: run } = pod;
  const isIn = !isWaiting(pod);
  const found = isIn ? undefined : find(pod);
  if (found?.kind === 'none') return [];
  const queue = found?.name ?? chargedQueue(pod, find);
  const requests = counted(pod.requests);
  return [{ pod, uid, gang, run, queue, isIn, requests, name: podName(pod) }];
}
