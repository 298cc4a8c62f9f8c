import {
  type KubeletSettings,
  type PassInput,
  type PassOutcome,
  type PodEviction,
  KUBELET_START,
  kubeletPass,
} from '#test/conformance/kubelet/kubelet-pass.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PressureState, Threshold } from '#shared/domain/pressure/threshold.ts';
import { diskLayout } from '#test/conformance/kubelet/disk-layout.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeSummary } from '#shared/kube/decode/decode-summary.ts';
import {
  type WireObject,
  readBoolean,
  readInteger,
  readList,
  readObject,
  readText,
  readTexts,
} from '#shared/kube/decode/wire-object.ts';
import { readSettings } from '#test/conformance/read-settings.ts';
import { asIs, readCase, required } from '#test/conformance/required.ts';

/** Second 0 of every episode. */
const START = Date.UTC(2026, 0, 1);

/** Kind `episodes`: the kubelet's eviction manager, pass by pass. */
export function answer(raw: unknown): unknown {
  const { settings, pods, steps } = readCase(raw, readEpisode);
  const podsByKey = new Map(pods.map((each) => required(decodePod(each))).map((pod) => [keyOf(pod), pod]));
  let state = KUBELET_START;
  const answers = steps.map((step) => {
    const pass = kubeletPass(state, inputFrom(step, podsByKey), settings);
    state = pass.state;
    return { want: { ...describeOutcome(pass.outcome), ...describePressure(state.pressure) } };
  });
  return { steps: answers };
}

function readEpisode(episode: WireObject) {
  return {
    settings: settingsFrom(readObject(episode, 'config', asIs) ?? {}),
    pods: readList(episode, 'pods', asIs),
    steps: readList(episode, 'steps', readStep),
  };
}

function readStep(step: WireObject) {
  return {
    seconds: readInteger(step, 't') ?? 0,
    active: readTexts(step, 'active'),
    summary: readObject(step, 'summary', asIs) ?? {},
    summaryAfterReclaim: readObject(step, 'summaryAfterReclaim', asIs),
  };
}

function settingsFrom(config: WireObject): KubeletSettings {
  const parsed = parseThresholds(readSettings(config));
  if (!parsed.ok) throw new Error(`cannot read the case: config: ${parsed.mistakes.join('; ')}`);
  const period = parseDuration(readText(config, 'pressureTransitionPeriod') ?? '');
  if (!period.ok) throw new Error(`cannot read the case: pressureTransitionPeriod: ${period.message}`);
  return {
    thresholds: parsed.thresholds,
    transitionPeriodMs: durationSeconds(period.nanoseconds) * 1000,
    mostGraceSeconds: readInteger(config, 'maxPodGracePeriodSeconds') ?? 0,
    isLocalStorageLimited: readBoolean(config, 'localStorageCapacityIsolation'),
    layout: diskLayout(readBoolean(config, 'imageFs'), readBoolean(config, 'splitFs')),
  };
}

function inputFrom(step: ReturnType<typeof readStep>, pods: ReadonlyMap<string, Pod>): PassInput {
  const { readings, pods: usages } = required(decodeSummary(step.summary));
  return {
    now: START + step.seconds * 1000,
    pods: step.active.flatMap((key) => pods.get(key) ?? []),
    statistics: { readings, usage: usageByUid(usages) },
    readingsAfterReclaim: required(decodeSummary(step.summaryAfterReclaim ?? step.summary)).readings,
  };
}

function describePressure({ conditions, observed, met }: PressureState): object {
  return { nodeConditions: conditions, thresholdsObserved: signalsOf(observed), thresholdsMet: signalsOf(met) };
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
