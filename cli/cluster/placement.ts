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
import { prefilter, type PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import {
  type SimulatedExtender,
  simulatePreemption,
  type Simulation,
} from '#shared/domain/preemption/explain/simulate-preemption.ts';
import type { Because } from '#shared/domain/model/because.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import { orRefusedByLoop, ownerWishes, protectedFromPreemption } from '#shared/kube/annotations/annotations.ts';
import type { ProtectionRules } from '#shared/domain/eviction/protection.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { LABEL_IGNORE, PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import type { ClusterModel } from './cluster-model.ts';

/** Where a pod would go, and everything that is said about it. */
export interface Placement {
  readonly pod: Pod;
  readonly state: PrefilterState;
  readonly simulation: Simulation;
  /** Why the pod does not go to the other nodes. */
  readonly otherNodes: readonly ReasonGroup[];
  /** Pods that stand in the way, and why a pod of higher priority goes although lower ones exist. */
  readonly explanations: readonly Because[];
}

/** How kube-scheduler is set up. */
export interface SchedulerSetup {
  /** Whether it asks our extender. */
  readonly extender: boolean;
  readonly budgets: ProposalRules['budgets'];
  /** When the cluster was read. */
  readonly now: Instant;
}

const MOST_EXPLANATIONS = 10;

/** What kube-scheduler would do with a pod in this cluster. */
export function placementOf(model: ClusterModel, pod: Pod, setup: SchedulerSetup): Placement {
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
        { now: setup.now, nominatedSince: nominatedSince(model) },
      ).slice(0, MOST_EXPLANATIONS),
      ...(simulation.kind === 'preempts' ? explainHigherVictim(state, simulation) : []),
      ...firstExplanations(state, ruledOut),
    ],
  };
}

/**
 * Since when pods of the cluster are nominated: when the manager of `status.nominatedNodeName` last wrote its fields, by
 * `metadata.managedFields`.
 */
export function nominatedSince({ podManifests }: ClusterModel): (pod: Pod) => string | undefined {
  return ({ namespace, name }) => {
    const raw = podManifests.get(`${namespace}/${name}`)?.raw;
    const entries = fieldOf(fieldOf(raw, 'metadata'), 'managedFields');
    const writer = (Array.isArray(entries) ? (entries as readonly unknown[]) : []).find(
      (each) => fieldOf(fieldOf(fieldOf(each, 'fieldsV1'), 'f:status'), 'f:nominatedNodeName') !== undefined,
    );
    const time = fieldOf(writer, 'time');
    return typeof time === 'string' ? time : undefined;
  };
}

/** As the extender is set up unless its configuration says otherwise. */
function extenderOf({ classes, pressures }: ClusterModel, { budgets, now }: SchedulerSetup): SimulatedExtender {
  const optedOut = protectedFromPreemption((name) => classes.get(name));
  const loops = pressures.flatMap(({ name, preemptionLoops }) =>
    preemptionLoops.map((record) => ({ ...record, node: name })),
  );
  const protection = orRefusedByLoop(optedOut, (victim, preemptor) =>
    refusalByRecord(loops, { victim, preemptor }, now),
  );
  const toLeave: ProposalRules['toLeave'] = (preemptor) => nodesToLeave(loops, preemptor, now);
  return { rules: { budgets, protection, toLeave, usageAware: false, tieBreak: 'none' }, now };
}

function firstExplanations(state: PrefilterState, ruledOut: Parameters<typeof groupReasons>[1]): readonly Because[] {
  const found: Because[] = [];
  for (const each of ruledOut) {
    if (found.length >= MOST_EXPLANATIONS) break;
    const because = ruledOutBecause(state, each);
    if (because !== undefined) found.push(because);
  }
  return found;
}

/** What the policy of a node protects. */
interface Protect {
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
}

/** An opt-out that covers only what was requested does not keep a pod above its request in the severe stage. */
export function withoutOptOut(rules: ProtectionRules): ProtectionRules {
  return { ...rules, wantsToStay: () => false };
}

/** Which pods are never evicted for node pressure, by the policy of their node and the labels of namespaces. */
export function evictionRules(
  { namespaces, optOutCeiling }: Protect,
  inCluster: readonly Namespace[],
): ProtectionRules {
  const ignored = inCluster.filter(({ labels }) => labels.get(LABEL_IGNORE) === 'true').map(({ name }) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...namespaces, ...ignored]),
    optOutCeiling,
    wantsToStay: ({ annotations }) => !ownerWishes(annotations).mayBeEvicted,
  };
}
