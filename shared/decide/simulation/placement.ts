import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { explainHeldRoom, explainUnmodelledNeeds } from '#shared/domain/preemption/explain/explain-stuck-preemptor.ts';
import {
  explainHigherVictim,
  groupReasons,
  type ReasonGroup,
  ruledOutBecause,
} from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import { nodesToLeave, refusalByRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import { prefilter, type PrefilterState } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import {
  type SimulatedExtender,
  simulatePreemption,
  type Simulation,
} from '#shared/domain/preemption/explain/simulate-preemption.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { orRefusedByLoop, protectedFromPreemption } from '#shared/kube/annotations/annotations.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { NamedPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';

/** A cluster, or a part of one, as simulated decisions see it. */
export interface SimulatedCluster {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly budgets: readonly DisruptionBudget[];
  readonly namespaces: readonly Namespace[];
  readonly classes: ReadonlyMap<string, AnnotatedClass>;
  readonly policies: readonly NamedPolicy[];
  readonly pressures: readonly NodePressure[];
}

/** Where a pod would be placed, with all explanations. */
export interface SimulatedPlacement {
  readonly pod: Pod;
  readonly state: PrefilterState;
  readonly simulation: Simulation;
  /** Why the pod is not placed on the other nodes. */
  readonly otherNodes: readonly ReasonGroup[];
  /** Pods that are in the way, and why a pod of higher priority is preempted although lower ones exist. */
  readonly explanations: readonly Because[];
}

/** How kube-scheduler is set up. */
export interface SchedulerSetup {
  /** Whether it calls our extender. */
  readonly extender: boolean;
  readonly budgets: ProposalRules['budgets'];
  /** When the cluster was read. */
  readonly now: Instant;
  /** Since when a pod is nominated, as RFC 3339; `undefined` if unknown. */
  readonly nominatedSince: (pod: Pod) => string | undefined;
  /** The pods that the extender protects for queues. */
  readonly keptOn?: NonNullable<ProposalRules['keptOn']> | undefined;
}

const MAX_EXPLANATIONS = 10;

/** What kube-scheduler would do with a pod in this cluster. */
export function simulatePlacement(model: SimulatedCluster, pod: Pod, setup: SchedulerSetup): SimulatedPlacement {
  const snapshot = createSnapshot(model);
  const state = prefilter(snapshot, pod);
  const simulation = simulatePreemption(snapshot, pod, setup.extender ? extenderOf(model, setup) : undefined);
  const ruledOut = simulation.kind === 'fits' ? [] : simulation.ruledOut;
  return {
    pod,
    state,
    simulation,
    otherNodes: groupReasons(state, ruledOut),
    explanations: [
      ...explainUnmodelledNeeds(state),
      ...explainHeldRoom(
        state,
        ruledOut.map(({ node }) => node),
        { now: setup.now, nominatedSince: setup.nominatedSince },
      ).slice(0, MAX_EXPLANATIONS),
      ...(simulation.kind === 'preempts' ? explainHigherVictim(state, simulation) : []),
      ...firstExplanations(state, ruledOut),
    ],
  };
}

/** The default configuration of the extender. */
function extenderOf(
  { classes, pressures }: SimulatedCluster,
  { budgets, keptOn, now }: SchedulerSetup,
): SimulatedExtender {
  const optedOut = protectedFromPreemption((name) => classes.get(name));
  const loops = pressures.flatMap(({ name, preemptionLoops }) =>
    preemptionLoops.map((record) => ({ ...record, node: name })),
  );
  const protection = orRefusedByLoop(optedOut, (victim, preemptor) =>
    refusalByRecord(loops, { victim, preemptor }, now),
  );
  const toLeave: ProposalRules['toLeave'] = (preemptor) => nodesToLeave(loops, preemptor, now);
  const kept = keptOn && { keptOn };
  return { rules: { budgets, protection, ...kept, toLeave, usageAware: false, tieBreak: 'none' }, now };
}

function firstExplanations(state: PrefilterState, ruledOut: Parameters<typeof groupReasons>[1]): readonly Because[] {
  const found: Because[] = [];
  for (const each of ruledOut) {
    if (found.length >= MAX_EXPLANATIONS) break;
    const because = ruledOutBecause(state, each);
    if (because !== undefined && !found.some(({ text }) => text === because.text)) found.push(because);
  }
  return found;
}
