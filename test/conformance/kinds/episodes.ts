import type { KubeletSettings, PassOutcome, PodEviction } from '#shared/domain/eviction/kubelet-pass.ts';
import { KUBELET_START, kubeletPass } from '#shared/domain/eviction/kubelet-pass.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { diskLayout } from '#shared/domain/pressure/disk-layout.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import type { EvictionSettings } from '#shared/domain/pressure/parse-thresholds.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import { usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { decodeSummary } from '#shared/kube/decode-summary.ts';
import { required } from '#test/conformance/required.ts';

interface EpisodeConfig extends EvictionSettings {
  readonly pressureTransitionPeriod: string;
  readonly maxPodGracePeriodSeconds: number;
  readonly localStorageCapacityIsolation: boolean;
  readonly imageFs: boolean;
  readonly splitFs: boolean;
}

interface EpisodeStep {
  readonly t: number;
  readonly active: readonly string[];
  readonly summary: unknown;
  readonly summaryAfterReclaim?: unknown;
}

interface EpisodeVector {
  readonly config: EpisodeConfig;
  readonly pods: readonly unknown[];
  readonly steps: readonly EpisodeStep[];
}

/** Second 0 of every episode. */
const START = Date.UTC(2026, 0, 1);

/** Kind `episodes`: the kubelet's eviction manager, pass by pass. */
export function answer(vector: EpisodeVector): unknown {
  const settings = settingsFrom(vector.config);
  const pods = new Map(vector.pods.map((raw) => required(decodePod(raw))).map((pod) => [keyOf(pod), pod]));
  let state = KUBELET_START;
  const steps = vector.steps.map((step) => {
    const pass = kubeletPass(state, inputFrom(step, pods), settings);
    state = pass.state;
    return {
      want: {
        ...describeOutcome(pass.outcome),
        nodeConditions: state.pressure.conditions,
        thresholdsObserved: signalsOf(state.pressure.observed),
        thresholdsMet: signalsOf(state.pressure.met),
      },
    };
  });
  return { steps };
}

function settingsFrom(config: EpisodeConfig): KubeletSettings {
  const parsed = parseThresholds(config);
  if (!parsed.ok) throw new Error(`cannot read the case: config: ${parsed.mistakes.join('; ')}`);
  const period = parseDuration(config.pressureTransitionPeriod);
  if (!period.ok) throw new Error(`cannot read the case: pressureTransitionPeriod: ${period.message}`);
  return {
    thresholds: parsed.thresholds,
    transitionPeriodMs: durationSeconds(period.nanoseconds) * 1000,
    mostGraceSeconds: config.maxPodGracePeriodSeconds,
    isLocalStorageLimited: config.localStorageCapacityIsolation,
    layout: diskLayout(config.imageFs, config.splitFs),
  };
}

function inputFrom(step: EpisodeStep, pods: ReadonlyMap<string, Pod>): Parameters<typeof kubeletPass>[1] {
  const { readings, pods: usages } = required(decodeSummary(step.summary));
  const after =
    step.summaryAfterReclaim === undefined ? readings : required(decodeSummary(step.summaryAfterReclaim)).readings;
  return {
    now: START + step.t * 1000,
    pods: step.active.flatMap((key) => pods.get(key) ?? []),
    statistics: { readings, usage: usageByUid(usages) },
    readingsAfterReclaim: after,
  };
}

function describeOutcome(outcome: PassOutcome): object {
  const nothing = { evicted: null, gracePeriodOverride: null, evictMessage: null, reclaiming: null };
  switch (outcome.kind) {
    case 'quiet':
      return nothing;
    case 'localStorage':
      return { ...nothing, localStorageEvicted: outcome.evictions.map(describeLocalEviction) };
    case 'reclaim':
      return {
        ...nothing,
        ...(outcome.eviction === undefined ? {} : describeEviction(outcome.eviction)),
        reclaiming: outcome.resource,
        ...(outcome.nodeReclaim.length === 0 ? {} : { nodeReclaim: outcome.nodeReclaim }),
      };
  }
}

function describeLocalEviction({ pod, graceSeconds, message }: PodEviction): object {
  return { pod: keyOf(pod), gracePeriodOverride: graceSeconds, message: message.text };
}

function describeEviction({ pod, graceSeconds, message }: PodEviction): object {
  const { text, annotations } = message;
  return {
    evicted: keyOf(pod),
    gracePeriodOverride: graceSeconds,
    evictMessage: text,
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function signalsOf(thresholds: readonly Threshold[]): readonly string[] {
  return [...new Set(thresholds.map(({ signal }) => signal))].sort();
}

function keyOf({ namespace, name }: Pod): string {
  return `${namespace}/${name}`;
}
