import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import type { UsageDepth } from '#shared/decide/eviction/memory-trend.ts';
import { advancePresence, presentSince } from '#agent/observe/source/source.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { DOUBTS } from '#agent/messages.ts';
import type { NodeSource, ObservedPod } from './node-source.ts';

export interface FollowingOptions {
  readonly layout: CgroupLayout;
  /** Searches for the cgroups again, given the pods that should have one; `undefined` if none is found. */
  readonly findLayout: (pods: readonly ObservedPod[]) => CgroupLayout | undefined;
  readonly open: (layout: CgroupLayout) => NodeSource;
  readonly nowMs: number;
}

/** Searched again once two measurements found no pod, and then at most once per measurement of the pods. */
const PATIENCE = { lostMs: 15_000, foundMs: 0 };

/**
 * Follows the cgroup of all pods. A kubelet restarted with another cgroup driver or root keeps its pods elsewhere, and
 * the old cgroup may still exist.
 */
export function createFollowingNode({ layout, findLayout, open, nowMs }: FollowingOptions): NodeSource {
  let current = { kubepods: layout.kubepods, node: open(layout) };
  let followed: readonly ObservedPod[] = [];
  let presence = presentSince(nowMs);
  const stopping = new AbortController();

  function follow(pods: readonly ObservedPod[]): void {
    followed = pods;
    current.node.follow(pods);
  }

  function usage(depth: UsageDepth, atMs: number): UsageByUid {
    const seen = current.node.usage(depth, atMs);
    const running = followed.filter(({ isRunning }) => isRunning);
    presence = advancePresence(presence, isAnyMeasured(running, seen), PATIENCE, atMs);
    if (!presence.isLost || depth !== 'all') return seen;
    return moveTo(findLayout(running)) ? current.node.usage(depth, atMs) : seen;
  }

  function moveTo(found: CgroupLayout | undefined): boolean {
    if (found === undefined || found.kubepods === current.kubepods) return false;
    current.node.close();
    current = { kubepods: found.kubepods, node: open(found) };
    current.node.follow(followed);
    void current.node.run(stopping.signal);
    return true;
  }

  function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => stopping.abort(), { once: true });
    return current.node.run(stopping.signal);
  }
  return {
    kind: 'kernel',
    readNode: (atMs) => current.node.readNode(atMs),
    follow,
    usage,
    podPressures: () => current.node.podPressures(),
    groups: () => current.node.groups(),
    containers: (uid) => current.node.containers(uid),
    whyUnmeasured: () => current.node.whyUnmeasured(),
    fallback: () => undefined,
    health: () => current.node.health(),
    run,
    close: () => current.node.close(),
  };
}

/** Pods are measured at least every ten seconds. A single measured pod ends the fallback. */
const FALLBACK_PATIENCE = { lostMs: 30_000, foundMs: 0 };

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
    presence = advancePresence(presence, isAnyMeasured(running, own), FALLBACK_PATIENCE, nowMs);
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
function isAnyMeasured(running: readonly ObservedPod[], usage: UsageByUid): boolean {
  return running.length === 0 || running.some(({ uid }) => usage.has(uid));
}

function podsUnreadable(count: number, why: string): Because {
  return DOUBTS.podsUnreadable({ pods: count, why }, { pods: count, why });
}

/** Each source once: the summary may be the fallback for memory as well. */
function merged(source: NodeSource, summary: NodeSource): ReturnType<NodeSource['health']> {
  const own = source.health();
  const known = new Set(own.map(({ name }) => name));
  return [...own, ...summary.health().filter(({ name }) => !known.has(name))];
}
