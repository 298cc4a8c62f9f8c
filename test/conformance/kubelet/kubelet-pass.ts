import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import {
  type PressureState,
  advancePressure,
  NO_PRESSURE,
  isBelow,
  byUrgency,
  type Threshold,
} from '#shared/domain/pressure/threshold.ts';
import { withContainerFilesystem } from './container-filesystem-thresholds.ts';
import {
  type DiskLayout,
  type StarvedResource,
  resourceOf,
  type NodeReadings,
  observe,
} from '#shared/domain/pressure/signal.ts';
import { prepareCandidate, rankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { kubeletOrder } from '#shared/domain/ranking/ranking-order.ts';
import { type VictimRules, chooseVictims } from '#shared/domain/eviction/choose-victims.ts';
import { type EvictionMessage, evictionMessage } from '#agent/report/eviction-events.ts';
import { gracePeriodSeconds, HARD_GRACE_SECONDS } from '#shared/decide/eviction/eviction.ts';
import { localStorageExcess } from './local-storage.ts';
import { type NodeReclaim, nodeReclaimFor } from './node-reclaim.ts';
import { criticalProtection, isCriticalPod } from '#shared/domain/eviction/protection.ts';

export interface KubeletSettings {
  readonly thresholds: readonly Threshold[];
  readonly transitionPeriodMs: number;
  readonly mostGraceSeconds: number;
  readonly isLocalStorageLimited: boolean;
  readonly layout: DiskLayout;
}

export interface KubeletState {
  readonly pressure: PressureState;
  /** The first pass still uses the thresholds as they were configured. */
  readonly knowsDisks: boolean;
}

export const KUBELET_START: KubeletState = { pressure: NO_PRESSURE, knowsDisks: false };

/** One answer of the statistics endpoint. */
export interface Statistics {
  readonly readings: NodeReadings;
  readonly usage: UsageByUid;
}

export interface PassInput {
  readonly now: Instant;
  /** In the kubelet's order, which decides between pods that rank equal. */
  readonly pods: readonly Pod[];
  readonly statistics: Statistics;
  /** What the node's readings are once unused images and containers are gone. */
  readonly readingsAfterReclaim: NodeReadings;
}

export interface PodEviction {
  readonly pod: Pod;
  readonly graceSeconds: number;
  readonly message: EvictionMessage;
}

export type PassOutcome =
  | { readonly kind: 'quiet' }
  | { readonly kind: 'localStorage'; readonly evictions: readonly PodEviction[] }
  | {
      readonly kind: 'reclaim';
      readonly resource: StarvedResource;
      readonly nodeReclaim: readonly NodeReclaim[];
      /** `undefined` where node reclaim was enough, or no pod may be evicted. */
      readonly eviction: PodEviction | undefined;
    };

/** The kubelet takes one pod and looks again. */
const AT_MOST_ONE: VictimRules = {
  protectionOf: ({ facts }) => criticalProtection(facts.pod),
  most: 1,
  gap: Infinity,
};

/**
 * One pass of the kubelet's eviction manager (`synchronize` in `pkg/kubelet/eviction/eviction_manager.go`): pressure
 * advances; pods over their own disk limits go; else the most urgent shortage is met, from the node's own waste if
 * that is enough, from one pod if not.
 */
export function kubeletPass(
  state: KubeletState,
  input: PassInput,
  settings: KubeletSettings,
): { readonly state: KubeletState; readonly outcome: PassOutcome } {
  const inForce = withContainerFilesystem(settings.thresholds, settings.layout);
  const rules = { ...settings, thresholds: state.knowsDisks ? inForce : settings.thresholds };
  const pressure = advancePressure(state.pressure, observe(input.statistics.readings), rules, input.now);
  const outcome = decide(pressure, input, { ...settings, thresholds: inForce });
  return { state: { pressure, knowsDisks: true }, outcome };
}

function decide(pressure: PressureState, input: PassInput, settings: KubeletSettings): PassOutcome {
  const evictions = settings.isLocalStorageLimited ? localStorageEvictions(input, settings.layout) : [];
  if (evictions.length > 0) return { kind: 'localStorage', evictions };
  const [threshold] = byUrgency(pressure.due);
  if (threshold === undefined) return { kind: 'quiet' };
  const nodeReclaim = nodeReclaimFor(threshold.signal, settings.layout);
  const isPodSpared = nodeReclaim.length > 0 && isRelieved(settings.thresholds, input.readingsAfterReclaim);
  return {
    kind: 'reclaim',
    resource: resourceOf(threshold.signal),
    nodeReclaim,
    eviction: isPodSpared ? undefined : evictOne(threshold, pressure, input, settings),
  };
}

function localStorageEvictions({ pods, statistics }: PassInput, layout: DiskLayout): readonly PodEviction[] {
  return pods.flatMap((pod) => {
    const usage = statistics.usage.get(pod.uid);
    if (usage === undefined || isCriticalPod(pod)) return [];
    const text = localStorageExcess(pod, usage, layout);
    return text === undefined
      ? []
      : [{ pod, graceSeconds: HARD_GRACE_SECONDS, message: { text, annotations: undefined } }];
  });
}

/** Whether every threshold is relieved, minimum reclaim included, even those that never were crossed. */
function isRelieved(thresholds: readonly Threshold[], readings: NodeReadings): boolean {
  const observations = observe(readings);
  return !thresholds.some((threshold) => isBelow(threshold, observations, 'withMinimumReclaim'));
}

function evictOne(
  threshold: Threshold,
  pressure: PressureState,
  { pods, statistics }: PassInput,
  settings: KubeletSettings,
): PodEviction | undefined {
  const resource = resourceOf(threshold.signal);
  const against = { signal: threshold.signal, layout: settings.layout };
  const candidates = pods.map((pod) => prepareCandidate(rankingFacts(pod), statistics.usage.get(pod.uid), against));
  const [victim] = chooseVictims(rankPods(candidates, kubeletOrder(resource)), AT_MOST_ONE).victims;
  if (victim === undefined) return undefined;
  const { pod } = victim.facts;
  const shortage = { resource, threshold, observed: pressure.observations.get(threshold.signal) };
  return {
    pod,
    graceSeconds: gracePeriodSeconds(threshold, pod, settings.mostGraceSeconds),
    message: evictionMessage(shortage, pod, statistics.usage.get(pod.uid)),
  };
}
