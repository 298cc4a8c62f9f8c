import type { Because } from '#shared/domain/model/because.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { UsageDepth } from '#agent/decide/measuring-depth.ts';
import type { NodeSource, ObservedPod } from './node-source.ts';
import { advancePresence, presentSince } from '#agent/observe/source/presence.ts';
import { REASONS } from '#agent/messages.ts';

/** Pods are measured at least every ten seconds. A single measured pod ends the fallback. */
const PATIENCE = { lostMs: 30_000, foundMs: 0 };

/**
 * A source whose pod statistics come from the kubelet's summary while the source has none of any running pod:
 *
 *     own ── no running pod measured for 30 s ──▶ summary ── one of them measured ──▶ own
 */
export function withPodFallback(source: NodeSource, summary: NodeSource, clock: Pick<Clock, 'monotonic'>): NodeSource {
  let running: readonly ObservedPod[] = [];
  let presence = presentSince(clock.monotonic());
  const active = (): NodeSource => (presence.isLost ? summary : source);

  function follow(pods: readonly ObservedPod[]): void {
    running = pods.filter(({ isRunning }) => isRunning);
    source.follow(pods);
  }

  function usage(depth: UsageDepth, nowMs: number): UsageByUid {
    const own = source.usage(depth, nowMs);
    presence = advancePresence(presence, isAnyMeasured(running, own), PATIENCE, nowMs);
    return presence.isLost ? summary.usage(depth, nowMs) : own;
  }

  function fallback(): Because | undefined {
    const why = source.whyUnmeasured() ?? 'no pod cgroup was found';
    return source.fallback() ?? (presence.isLost ? podsUnreadable(running.length, why) : undefined);
  }
  return {
    ...source,
    follow,
    usage,
    podPressures: () => active().podPressures(),
    containers: (uid) => active().containers(uid),
    fallback,
    health: () => (presence.isLost ? merged(source, summary) : source.health()),
  };
}

/** Whether any of the running pods has statistics; true when no pod runs. */
export function isAnyMeasured(running: readonly ObservedPod[], usage: UsageByUid): boolean {
  return running.length === 0 || running.some(({ uid }) => usage.has(uid));
}

function podsUnreadable(count: number, why: string): Because {
  return REASONS.podsUnreadable({ pods: count, why }, { pods: count, why });
}

/** Each source once: the summary may be the fallback for memory as well. */
function merged(source: NodeSource, summary: NodeSource): ReturnType<NodeSource['health']> {
  const own = source.health();
  const known = new Set(own.map(({ name }) => name));
  return [...own, ...summary.health().filter(({ name }) => !known.has(name))];
}
