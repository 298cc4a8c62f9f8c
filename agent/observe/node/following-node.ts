import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import type { UsageDepth } from '#agent/decide/measuring-depth.ts';
import type { NodeSource, ObservedPod } from './node-source.ts';
import { isAnyMeasured } from './pod-fallback.ts';
import { advancePresence, presentSince } from '#agent/observe/source/presence.ts';

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
 * The kernel files wherever the cgroup of all pods is: a kubelet restarted with another cgroup driver or root keeps its
 * pods elsewhere, and the old cgroup may still exist.
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
