import type { Because } from '#shared/domain/base/because.ts';
import { queueDirectory } from '#shared/api/queue.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ProposedVictims, KeepTogether, ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import type { QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import type { ClusterSnapshot, Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podsAmong } from '#shared/domain/preemption/proposal/as-proposed.ts';
import { type NodeSheet, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { isManaged, orRefusedByLoop, protectedFromPreemption } from '#shared/kube/annotations/annotations.ts';
import { type Reflector, decodeWith } from '#shared/kube/reflector/reflector.ts';
import type { IsGuarded } from '#shared/decide/queues/forged-marks.ts';
import { aboveMaximum, keptByQueues } from '#shared/decide/queues/kept-by-queues.ts';
import { QueueCharges, type PodAmounts, type Charge } from '#shared/decide/queues/queue-charges.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { type NodeCandidate, candidateOf, chooseNode } from '#shared/domain/placement/victims/choose-node.ts';
import { isStale } from '#scheduler/cluster-view.ts';
import type { PodObservers } from '#scheduler/pod-sink.ts';
import type { StoredQueue } from '#scheduler/queues/stored-queue.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { PreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';

/** The rules of queues that kube-scheduler has to respect. */
export type QueueRules = Required<Pick<ProposalRules, 'keptOn' | 'mayKeepOn'>>;

/** The PriorityClasses of the cluster. */
export type Classes = Pick<Reflector<AnnotatedClass>, 'get' | 'onChange'>;

/** What is known about preemption loops. */
type Loops = Pick<PreemptionLoops, 'mode' | 'isAny' | 'refusal' | 'toLeave'>;

/** The rules that change at run time. */
interface PreemptionRuleSources {
  readonly classes: Classes;
  readonly loops: Loops;
  readonly ownerDisruptedAt?: ProposalRules['ownerDisruptedAt'];
  readonly queues?: QueueRules | undefined;
  readonly gangs?: NonNullable<ProposalRules['gangs']>;
}

/** The rules for reviewing a proposal. */
export function preemptionRules(
  { budgets, usageAware, tieBreak }: Pick<ProposalRules, 'budgets' | 'usageAware' | 'tieBreak'>,
  { classes, loops, ownerDisruptedAt, queues, gangs }: PreemptionRuleSources,
): ProposalRules {
  const optedOut = protectedFromPreemption((name) => classes.get(name));
  const holdsProtected = protectedPods(optedOut, classes);
  const kept = queues === undefined ? {} : { keptOn: queues.keptOn, mayKeepOn: queues.mayKeepOn };
  const shared = { budgets, usageAware, tieBreak, ownerDisruptedAt, ...kept, ...(gangs && { gangs }) };
  if (loops.mode !== 'Enforce') return { ...shared, protection: optedOut, holdsProtected };
  return {
    ...shared,
    protection: orRefusedByLoop(optedOut, loops.refusal),
    toLeave: loops.toLeave,
    holdsProtected: (sheet) => loops.isAny() || holdsProtected(sheet),
  };
}

/** Most nodes have no protected pod, so each node is inspected once until its pods or a class change. */
function protectedPods(protection: ProposalRules['protection'], classes: Classes): (sheet: NodeSheet) => boolean {
  let answers = new WeakMap<NodeSheet, boolean>();
  classes.onChange(() => void (answers = new WeakMap()));
  return (sheet) => {
    const known = answers.get(sheet);
    if (known !== undefined) return known;
    const answer = sheet.pods.some(({ pod }) => protection(pod, ORDINARY) !== undefined);
    answers.set(sheet, answer);
    return answer;
  };
}

/** A preemptor without privileges: no protection yields to it. */
const ORDINARY = decodeWith(decodePod)({});

interface QueueKeeperOptions {
  readonly snapshot: ClusterSnapshot;
  readonly namespaces: Pick<Reflector<Namespace>, 'onChange'>;
  readonly queues: Pick<Reflector<StoredQueue>, 'values' | 'size' | 'onChange' | 'isSynced' | 'lastContactMs'>;
  /** Whether the copy of the pods is out of date. */
  readonly isStale: () => boolean;
  readonly amounts: PodAmounts;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly isGuarded?: IsGuarded | undefined;
}

/** Holds kube-scheduler's preemptions to the rules of queues. */
export interface QueueKeeper extends QueueRules, Pick<PodObservers, 'observePod'> {
  readonly observeGone: (uid: string) => void;
  /** Why a pod that was let in long ago must not be placed now. */
  readonly whyNotPlaced: (pod: Pod) => Because | undefined;
  /**
   * Records what an answer allows. Until the watch shows which victims terminate, their queues count as if they had
   * lost them.
   */
  readonly note: (preemptor: Pod, left: readonly ProposedVictims[]) => Steps<void>;
}

/** Protects no pod if the queues or pods are not known, or their copy is out of date. */
export function createQueueKeeper(options: QueueKeeperOptions): QueueKeeper {
  const { snapshot, queues, amounts, clock, isGuarded } = options;
  const charges = new QueueCharges(amounts, isGuarded);
  const open = new OpenPreemptions(charges, clock);
  const directory = followDirectory(queues);
  const managed = followManaged(options);
  const isKnown = (): boolean =>
    queues.size > 0 && queues.isSynced() && !options.isStale() && !isStale([queues], clock.monotonic());
  let last: { readonly preemptor: Pod; readonly rules: KeepTogether<Pod> | undefined } | undefined;

  const queuesNow = (known: QueueDirectory) => {
    return { snapshot, directory: known, charges, amounts, now: clock.now(), isGuarded };
  };

  function rulesFor(preemptor: Pod, known: QueueDirectory): KeepTogether<Pod> | undefined {
    if (managed.areNew()) charges.adopt(snapshot);
    const leaving = open.losses(preemptor.uid);
    return keptByQueues({ ...queuesNow(known), leaving }, preemptor);
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
    whyNotPlaced: (pod) => {
      if (!isKnown()) return undefined;
      if (managed.areNew()) charges.adopt(snapshot);
      return aboveMaximum(queuesNow(directory()), pod);
    },
    mayKeepOn: (sheet) => queues.size > 0 && managed.hasPodsOn(sheet),
    // Computed once per answer: the cluster hardly changes while it is computed.
    keptOn: (preemptor) => {
      if (!isKnown()) return undefined;
      if (last?.preemptor !== preemptor) last = { preemptor, rules: rulesFor(preemptor, directory()) };
      return last.rules;
    },
    note: function* (preemptor, left) {
      const { rules } = last?.preemptor === preemptor ? last : {};
      last = undefined;
      if (rules !== undefined) yield* open.add(preemptor.uid, left, snapshot);
    },
  };
}

/** The queue tree. It is rebuilt only after a spec changes: the queue leader writes up to twenty statuses a second. */
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

/** kube-scheduler deletes victims at once, and the watch shows the deletion a moment later. */
const UNSEEN_MS = 5_000;
const MAX_OPEN = 50;
/** Nodes that kube-scheduler may choose from; the victims on further ones are much alike. */
const MAX_EQUALS = 50;
const NODES_PER_STEP = 16;

/** What one answer allows kube-scheduler to do. */
interface OpenAnswer {
  /** The UIDs of the victims, for each node that kube-scheduler may choose. */
  readonly choices: readonly (readonly string[])[];
  readonly until: number;
}

/**
 * The preemptions that were allowed and whose victims do not terminate yet, as far as the watch shows. Without this
 * record, two pods that ask at the same moment could take the same part of a queue that is above its guarantee.
 */
class OpenPreemptions {
  readonly #charges: Pick<QueueCharges, 'get'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By UID of the preemptor. */
  readonly #open = new Map<string, OpenAnswer>();

  constructor(charges: Pick<QueueCharges, 'get'>, clock: Pick<Clock, 'monotonic'>) {
    this.#charges = charges;
    this.#clock = clock;
  }

  /** Records an answer: the nodes among which kube-scheduler will choose. */
  *add(
    preemptor: string,
    left: readonly ProposedVictims[],
    snapshot: Pick<ClusterSnapshot, 'nodes' | 'placedPods'>,
  ): Steps<void> {
    const candidates: NodeCandidate[] = [];
    for (const { node, uids, budgetViolations } of left) {
      const victims = victimsOn(snapshot, node, uids);
      if (victims.length > 0) candidates.push(candidateOf(node, victims, budgetViolations));
      if (candidates.length % NODES_PER_STEP === 0) yield;
    }
    if (candidates.length === 0) return;
    const best = new Set(chooseNode(candidates).best.slice(0, MAX_EQUALS));
    const choices = left.filter(({ node }) => best.has(node)).map(({ uids }) => uids);
    putBounded(this.#open, MAX_OPEN, [preemptor, { choices, until: this.#clock.monotonic() + UNSEEN_MS }]);
  }

  /** The watch shows a terminating or deleted pod: kube-scheduler has chosen the node of that pod. */
  observeGoing(uid: string): void {
    for (const [preemptor, { choices, until }] of this.#open) {
      const chosen = choices.filter((uids) => uids.includes(uid));
      if (chosen.length > 0) this.#open.set(preemptor, { choices: chosen, until });
    }
  }

  /** The most that other preemptors may still take, by kind of pods. */
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

/** A look-up among the pods of a node is faster than one in a large map. */
function victimsOn(
  { nodes, placedPods }: Pick<ClusterSnapshot, 'nodes' | 'placedPods'>,
  node: string,
  uids: readonly string[],
): readonly PlacedPod[] {
  const entry = nodes.get(node);
  return (entry && podsAmong(sheetOf(entry), uids)) ?? uids.flatMap((uid) => placedPods.get(uid) ?? []);
}

/** For each kind, adds the most that one of the choices takes. */
function addMost(losses: Map<Charge, number>, choices: readonly ReadonlyMap<Charge, number>[]): void {
  const most = new Map<Charge, number>();
  for (const counts of choices)
    for (const [charge, count] of counts) most.set(charge, Math.max(most.get(charge) ?? 0, count));
  for (const [charge, count] of most) losses.set(charge, (losses.get(charge) ?? 0) + count);
}
