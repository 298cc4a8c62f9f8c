import { putBounded } from '#shared/domain/model/memoize.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { ProposedVictims } from '#shared/domain/preemption/proposal/proposal.ts';
import { type Candidate, candidateOf, chooseNode } from '#shared/domain/preemption/victims/choose-node.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Charge, QueueCharges } from '#shared/queues/queue-charges.ts';
import type { Clock } from '#shared/runtime/clock.ts';

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
export class OpenPreemptions {
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
    const candidates: Candidate[] = [];
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
