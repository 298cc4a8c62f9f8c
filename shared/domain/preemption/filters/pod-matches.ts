import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';

/** Requirements that are compared in less than a millisecond; one with many thousands of values takes some. */
const REQUIREMENTS_PER_STEP = 2_000;

/** How many pods one step may compare with all of these selectors. */
export function podsPerStep(selectors: readonly PreparedSelector[]): number {
  const size = selectors.reduce((sum, { requirements }) => sum + 1 + (requirements?.length ?? 0), 0);
  return Math.max(1, Math.floor(REQUIREMENTS_PER_STEP / Math.max(1, size)));
}

/** Finds what depends on the namespace and labels of a pod alone, once for all pods that share both. */
export function byLabels<T>(find: (pod: Pod) => T): (pod: Pod) => T {
  const byNamespace = new Map<string, Map<Pod['labels'], T>>();
  return (pod) => {
    const { labels, namespace } = pod;
    const known = byNamespace.get(namespace) ?? new Map<Pod['labels'], T>();
    const before = known.get(labels);
    if (before !== undefined) return before;
    const found = find(pod);
    byNamespace.set(namespace, known.set(labels, found));
    return found;
  };
}

/** Those of some label keys that a node of the cluster has. */
export function* keysOnNodes({ nodes }: ClusterSnapshot, keys: Iterable<string>): Steps<ReadonlySet<string>> {
  const missing = new Set(keys);
  const found = new Set<string>();
  for (const { node } of nodes.values()) {
    if (missing.size === 0) break;
    for (const key of keysOn(node, missing)) {
      missing.delete(key);
      found.add(key);
    }
    yield;
  }
  return found;
}

/** Those of some label keys that one node has. */
export function keysOn({ labels }: Node, keys: ReadonlySet<string>): readonly string[] {
  return labels.size < keys.size
    ? Array.from(labels.keys()).filter((key) => keys.has(key))
    : Array.from(keys).filter((key) => labels.has(key));
}
