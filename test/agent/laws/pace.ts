import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import type { LawNode } from './node.ts';

const TEN_MINUTES_MS = 600_000;
/** The kubelet evicts one pod in each of its periods of ten seconds. */
const KUBELET_PER_MINUTE = 6;
const KUBELET_PER_TEN_MINUTES = 60;
/** How long the agent waits after an eviction by the kubelet. */
const STAND_BACK_MS = { mild: 30_000, severe: 2000 } as const;
/** What the watch shows, the next pass knows; and the wait begins with that pass. */
const SEEN_MS = 300;

type Fault = readonly [law: 'limits' | 'standBack', cause: string];

/** The window that an eviction exceeds, counted by what the API server has accepted. */
export function limitFault({ pod, urgency, mode }: Eviction, node: LawNode): Fault | undefined {
  if (mode === 'DryRun') return undefined;
  const { perMinute, perTenMinutes, perNamespace } = node.scenario.policy;
  const isLast = urgency === 'LastChance';
  const windows = [
    { cause: 'a minute', most: perMinute, least: KUBELET_PER_MINUTE, windowMs: MINUTE_MS, namespace: undefined },
    {
      cause: 'ten minutes',
      most: perTenMinutes,
      least: KUBELET_PER_TEN_MINUTES,
      windowMs: TEN_MINUTES_MS,
      namespace: undefined,
    },
    {
      cause: 'ten minutes in a namespace',
      most: perNamespace,
      least: KUBELET_PER_TEN_MINUTES,
      windowMs: TEN_MINUTES_MS,
      namespace: pod.namespace,
    },
  ];
  const exceeded = windows.find(({ most, least, windowMs, namespace }) => {
    const allowed = isLast && most > 0 ? Math.max(most, least) : most;
    return accepted(node, windowMs, namespace) >= allowed;
  });
  return exceeded === undefined ? undefined : ['limits', exceeded.cause];
}

/** Whether the agent has evicted as many pods in the last minute as the kubelet may: the last chance allows no more. */
export function isAsFastAsKubelet(node: LawNode): boolean {
  const { perMinute } = node.scenario.policy;
  return accepted(node, MINUTE_MS, undefined) >= Math.max(perMinute, KUBELET_PER_MINUTE);
}

function accepted({ pods, nowMs }: LawNode, windowMs: number, namespace: string | undefined): number {
  return pods.filter(
    ({ acceptedAtMs, spec }) =>
      acceptedAtMs !== undefined &&
      nowMs - acceptedAtMs < windowMs &&
      (namespace === undefined || spec.namespace === namespace),
  ).length;
}

/** Whether the kubelet evicted a pod a moment ago, which the watch has shown. */
export function standBackFault({ stage, mode }: Eviction, { events, nowMs, scenario }: LawNode): Fault | undefined {
  if (mode === 'DryRun' || scenario.api.some(({ kind }) => kind === 'watchStalls')) return undefined;
  const isRecent = events.some(
    ({ kind, atMs }) => kind === 'kubelet' && nowMs - atMs > SEEN_MS && nowMs - atMs < STAND_BACK_MS[stage] - SEEN_MS,
  );
  return isRecent ? ['standBack', stage] : undefined;
}
