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
import { QueueCharges, type PodAmounts } from '#shared/queues/queue-charges.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { isStale } from '#scheduler/cluster-view.ts';
import type { PodObservers } from '#scheduler/pod-sink.ts';
import type { StoredQueue } from '#scheduler/queues/stored-queue.ts';
import { OpenPreemptions } from './open-preemptions.ts';
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
