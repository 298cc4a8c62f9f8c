import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { Ineligible } from '#shared/domain/eviction/choose-victims.ts';
import type { ActingSignal, Observation } from '#shared/domain/pressure/signal.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { explainRanking, type RankedPod } from '#shared/domain/ranking/explain-ranking.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { AgentPolicy, Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { evictionsFor } from '#shared/decide/eviction/history/eviction-state.ts';
import { judgePods, planEvictions } from '#shared/decide/eviction/plan-evictions.ts';
import { orderFor } from '#shared/decide/eviction/ranking/rank-node.ts';
import { thresholdTrigger } from '#shared/decide/eviction/shortage/pressure-trigger.ts';
import {
  indexPods,
  stateByLabel,
  NO_POD_PRESSURES,
  NO_RECLAIM_RATES,
  type NodeSnapshot,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { LABEL_IGNORE } from '#shared/kube/api-names.ts';

/** The input of the decision of one node's agent. */
export interface NodeScene {
  /** Pods of the node. */
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly usage: UsageByUid;
  /** Owners with an avoid entry for the node, as `namespace/Kind/name`. */
  readonly avoided: ReadonlySet<string>;
  readonly now: Instant;
}

/** A threshold that is met, by what was observed. */
interface Met {
  readonly threshold: Threshold;
  readonly observed: Observation;
  readonly mode: Mode;
}

/** The pods of a node as the agent ranks them. */
export interface EvictionOrder {
  /** In the order of eviction. */
  readonly eligible: readonly RankedPod[];
  /** Also in the order of the ranking. */
  readonly ineligible: readonly Ineligible[];
  /** The pods that the agent chooses at once, within the limits of the policy. */
  readonly victims: readonly Pod[];
}

/** What the agent of a node decides that has evicted no pod yet; `met` is absent while nothing is short. */
export function evictionOrder(
  signal: ActingSignal,
  met: Met | undefined,
  scene: NodeScene,
  policy: AgentPolicy,
): EvictionOrder {
  const snapshot = snapshotOf(scene);
  const input = { state: FIRST_STATE, snapshot, policy };
  const trigger = met && thresholdTrigger(met.threshold, met.observed, { mode: met.mode, snapshot, policy });
  const evictions = evictionsFor(met?.mode ?? policy.mode, FIRST_STATE.evictions);
  const context = { signal, stage: trigger?.stage ?? 'mild', evictions } as const;
  const judged = judgePods(context, trigger, input);
  const eligible = judged.filter(({ because }) => because === undefined).map(({ candidate }) => candidate);
  return {
    eligible: explainRanking(eligible, orderFor(context, policy), eligible.length),
    ineligible: judged.filter((each): each is Ineligible => each.because !== undefined),
    victims: trigger === undefined ? [] : planEvictions(trigger, input).evictions.map(({ pod }) => pod),
  };
}

const NO_READINGS: NodeSnapshot['readings'] = {
  memory: undefined,
  allocatableMemory: undefined,
  nodeFilesystem: undefined,
  imageFilesystem: undefined,
  containerFilesystem: undefined,
  processes: undefined,
};

/** The node as its agent sees it: the trigger has its figures, nothing is in doubt, the kubelet is ready. */
function snapshotOf({ pods, namespaces, usage, avoided, now }: NodeScene): NodeSnapshot {
  return {
    now,
    readings: NO_READINGS,
    reclaimable: NO_READINGS,
    stalls: [],
    cpu: undefined,
    reclaim: NO_RECLAIM_RATES,
    oomKills: undefined,
    podPressures: NO_POD_PRESSURES,
    usage,
    pods: indexPods(pods.map(rankingFacts)),
    namespaces: namespaceStates(namespaces),
    avoided,
    doubts: new Map(),
    doubtfulPods: new Map(),
    isKubeletSilent: false,
    isKubeletReady: true,
    hasMemoryPressure: false,
    closedGates: [],
  };
}

/** The states of namespaces by name, as their labels select them. */
export function namespaceStates(namespaces: readonly Namespace[]): NodeSnapshot['namespaces'] {
  return new Map(namespaces.map(({ name, labels }) => [name, stateByLabel(labels.get(LABEL_IGNORE))]));
}
