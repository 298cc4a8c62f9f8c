import { queueDirectory } from '#shared/api/queue.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ProposedVictims, KeepTogether } from '#shared/domain/preemption/proposal/proposal.ts';
import type { QueueDirectory } from '#shared/domain/queueing/find-queue.ts';
import type { ClusterSnapshot, Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { keptByQueues } from '#shared/queues/kept-by-queues.ts';
import { QueueCharges, type PodAmounts, type Charge } from '#shared/queues/queue-charges.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { putBounded } from '#shared/domain/model/memoize.ts';
import { type NodeCandidate, candidateOf, chooseNode } from '#shared/domain/preemption/victims/choose-node.ts';
import { isStale } from '#scheduler/cluster-view.ts';
import type { PodObservers } from '#scheduler/pod-sink.ts';
import type { StoredQueue } from '#scheduler/queues/stored-queue.ts';
import type { QueueRules } from './preemption-rules.ts';

export interface QueueKeeperOptions {
  readonly snapshot: ClusterSnapshot;
  readonly namespaces: Pick<Reflector<Namespace>, 'onChange'>;
  readonly queues: Pick<Reflector<StoredQueue>, 'values' | 'size' | 'onChange' | 'isSynced' | 'lastContactMs'>;
  /** Whether nothing is known about the present of pods. */
  readonly isStale: () => boolean;
  readonly amounts: PodAmounts;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Holds kube-scheduler's preemptions to the laws of queues. */
export interface QueueKeeper extends QueueRules, Pick<PodObservers, 'observePod'> {
  readonly observeGone: (uid: string) => void;
  /** Takes note of what an answer leaves: until the watch shows which pods go, their queues count as if they had lost them. */
  readonly note: (preemptor: Pod, left: readonly ProposedVictims[]) => Steps<void>;
}

/** Where queues or pods are not known, or no longer, it keeps no pod. */
export function createQueueKeeper(options: QueueKeeperOptions): QueueKeeper {
  const { snapshot, queues, amounts, clock } = options;
  const charges = new QueueCharges(amounts);
  const open = new OpenPreemptions(charges, clock);
  const directory = followDirectory(queues);
  const managed = followManaged(options);
  const isKnown = (): boolean =>
    queues.size > 0 && queues.isSynced() && !options.isStale() && !isStale([queues], clock.monotonic());
  let last: { readonly preemptor: Pod; readonly laws: KeepTogether<Pod> | undefined } | undefined;

  function lawsFor(preemptor: Pod, known: QueueDirectory): KeepTogether<Pod> | undefined {
    if (managed.areNew()) charges.adopt(snapshot);
    const leaving = open.losses(preemptor.uid);
    return keptByQueues({ snapshot, directory: known, charges, amounts, now: clock.now(), leaving }, preemptor);
  }

  return {
    observePod: (seen, { namespaces }) => {
      charges.observe(seen, { namespaces });
      if (seen.pod.deletion !== undefined) open.observeGoing(seen.pod.uid);
    },
    observeGone: (uid) => {
      charges.gone(uid);
      open.observeGoing(uid);
    },
    mayKeepOn: (sheet) => queues.size > 0 && managed.hasPodsOn(sheet),
    // Of one answer: while it is made, the cluster hardly changes.
    keptOn: (preemptor) => {
      if (!isKnown()) return undefined;
      if (last?.preemptor !== preemptor) last = { preemptor, laws: lawsFor(preemptor, directory()) };
      return last.laws;
    },
    note: function* (preemptor, left) {
      const { laws } = last?.preemptor === preemptor ? last : {};
      last = undefined;
      if (laws !== undefined) yield* open.add(preemptor.uid, left, snapshot);
    },
  };
}

/** The tree, made again after a change of a spec only: the leader of the queues writes up to twenty statuses a second. */
function followDirectory(queues: QueueKeeperOptions['queues']): () => QueueDirectory {
  let directory: QueueDirectory | undefined;
  queues.onChange(({ kind, value, previous }) => {
    const isStatus =
      kind === 'modified' && previous?.uid === value.uid && previous.object.generation === value.object.generation;
    if (!isStatus) directory = undefined;
  });
  return () => (directory ??= queueDirectory(Array.from(queues.values(), ({ object }) => object)));
}

/** Which pods are in managed namespaces. */
function followManaged({ snapshot, namespaces }: Pick<QueueKeeperOptions, 'snapshot' | 'namespaces'>) {
  let answers = new WeakMap<NodeSheet, boolean>();
  let areNew = false;
  namespaces.onChange(({ kind, value, previous }) => {
    answers = new WeakMap();
    if (kind !== 'deleted' && isManaged(value.labels) && !isManaged(previous?.labels)) areNew = true;
  });
  return {
    /** Whether a namespace may have become managed since the last call. */
    areNew: () => {
      const before = areNew;
      areNew = false;
      return before;
    },
    hasPodsOn: (sheet: NodeSheet): boolean => {
      const known = answers.get(sheet);
      if (known !== undefined) return known;
      const answer = sheet.pods.some(({ pod }) => isManaged(snapshot.namespaces.get(pod.namespace)));
      answers.set(sheet, answer);
      return answer;
    },
  };
}

/** kube-scheduler deletes victims at once, and the watch shows it a moment later. */
const UNSEEN_MS = 5_000;
const MAX_OPEN = 50;
/** Of nodes among which kube-scheduler may choose; the victims of further ones are much alike. */
const MAX_EQUALS = 50;
const NODES_PER_STEP = 16;

/** What one answer has left to kube-scheduler. */
interface Open {
  /** The UIDs of the victims, by each node that it may choose. */
  readonly choices: readonly (readonly string[])[];
  readonly until: number;
}

/**
 * The preemptions that kube-scheduler has been allowed and whose victims the watch does not show as terminating yet. Two
 * pods that ask in one moment could otherwise take the same part of a queue that is above its guarantee.
 */
class OpenPreemptions {
  readonly #charges: Pick<QueueCharges, 'get'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By UID of the preemptor. */
  readonly #open = new Map<string, Open>();

  constructor(charges: Pick<QueueCharges, 'get'>, clock: Pick<Clock, 'monotonic'>) {
    this.#charges = charges;
    this.#clock = clock;
  }

  /** Takes in what an answer has left: the nodes among which kube-scheduler chooses by itself. */
  *add(
    preemptor: string,
    left: readonly ProposedVictims[],
    { placedPods }: Pick<ClusterSnapshot, 'placedPods'>,
  ): Steps<void> {
    const candidates: NodeCandidate[] = [];
    for (const { node, uids, budgetViolations } of left) {
      const victims = uids.flatMap((uid) => placedPods.get(uid) ?? []);
      if (victims.length > 0) candidates.push(candidateOf(node, victims, budgetViolations));
      if (candidates.length % NODES_PER_STEP === 0) yield;
    }
    if (candidates.length === 0) return;
    const best = new Set(chooseNode(candidates).best.slice(0, MAX_EQUALS));
    const choices = left.filter(({ node }) => best.has(node)).map(({ uids }) => uids);
    putBounded(this.#open, MAX_OPEN, [preemptor, { choices, until: this.#clock.monotonic() + UNSEEN_MS }]);
  }

  /** The watch shows that a pod terminates or is gone: kube-scheduler has chosen the node that it was on. */
  observeGoing(uid: string): void {
    for (const [preemptor, { choices, until }] of this.#open) {
      const chosen = choices.filter((uids) => uids.includes(uid));
      if (chosen.length > 0) this.#open.set(preemptor, { choices: chosen, until });
    }
  }

  /** What other preemptors than this one still take, at most, of each kind of pods. */
  losses(preemptor: string): ReadonlyMap<Charge, number> {
    const losses = new Map<Charge, number>();
    for (const [uid, { choices, until }] of this.#open) {
      if (until <= this.#clock.monotonic() || uid === preemptor) this.#open.delete(uid);
      else
        addMost(
          losses,
          choices.map((uids) => this.#count(uids)),
        );
    }
    return losses;
  }

  #count(uids: readonly string[]): ReadonlyMap<Charge, number> {
    const counts = new Map<Charge, number>();
    for (const uid of uids) {
      const charge = this.#charges.get(uid);
      if (charge !== undefined) counts.set(charge, (counts.get(charge) ?? 0) + 1);
    }
    return counts;
  }
}

/** Of each kind the most that one of the choices takes. */
function addMost(losses: Map<Charge, number>, choices: readonly ReadonlyMap<Charge, number>[]): void {
  const most = new Map<Charge, number>();
  for (const counts of choices)
    for (const [charge, count] of counts) most.set(charge, Math.max(most.get(charge) ?? 0, count));
  for (const [charge, count] of most) losses.set(charge, (losses.get(charge) ?? 0) + count);
}
