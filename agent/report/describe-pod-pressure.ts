import type { Because } from '#shared/domain/model/because.ts';
import { isAtCpuLimit, isAtMemoryLimit, type PodPressure } from '#agent/decide/snapshot/pod-pressure.ts';
import { OWN_LIMITS } from '#agent/messages.ts';

/** The reason with the pod's pressure as further facts, and in words if the pod is at its own limit. */
export function withPodPressure({ code, text, facts }: Because, podPressure: PodPressure | undefined): Because {
  if (podPressure === undefined) return { code, text, facts };
  return {
    code,
    text: [text, ...limitsIn(podPressure)].join('; '),
    facts: { ...facts, ...podPressureFacts(podPressure) },
  };
}

function limitsIn(podPressure: PodPressure): readonly string[] {
  const { limitHitsPerSecond = 0, throttled = 0 } = podPressure;
  return [
    ...(isAtMemoryLimit(podPressure) ? [OWN_LIMITS.memory(rounded(limitHitsPerSecond))] : []),
    ...(isAtCpuLimit(podPressure) ? [OWN_LIMITS.cpu(Math.round(throttled * 100))] : []),
  ];
}

function podPressureFacts({ waiting, stalled, limitHits, oomKills, throttled }: PodPressure): Because['facts'] {
  const figures = {
    memoryWaiting: waiting.memory,
    memoryStalled: stalled.memory,
    cpuWaiting: waiting.cpu,
    ioWaiting: waiting.io,
    memoryLimitHits: limitHits,
    oomKills,
    cpuThrottled: throttled,
  };
  const known = Object.entries(figures).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, rounded(value)]],
  );
  return Object.fromEntries(known) as Because['facts'];
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
