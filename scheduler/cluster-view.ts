import { type ClusterSnapshot, emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';
import type { Namespace } from '#shared/domain/snapshot/namespace.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { putBudget, removeBudget } from '#shared/domain/snapshot/snapshot-budgets.ts';
import { putNamespace, putNode, removeNamespace, removeNode } from '#shared/domain/snapshot/snapshot-nodes.ts';
import { putPod, removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeBudget } from '#shared/kube/decode/decode-budget.ts';
import { decodeNamespace } from '#shared/kube/decode/decode-namespace.ts';
import { decodeNode } from '#shared/kube/decode/decode-node.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type AnnotatedClass, decodeAnnotatedClass } from '#shared/kube/decode/decode-priority-class.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { PROMPT_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { NAMESPACES, NODES, PDBS, PODS, PRIORITY_CLASSES, type Resource } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';

export interface ClusterViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The cluster as decisions about preemption see it, kept current by watches. */
export interface ClusterView {
  readonly snapshot: ClusterSnapshot;
  readonly classes: Reflector<AnnotatedClass>;
  readonly reflectors: readonly Reflector<unknown>[];
  /** Kinds that have not been read yet. */
  readonly missing: () => readonly string[];
}

/** Nothing is read before the reflectors run. */
export function createClusterView(options: ClusterViewOptions): ClusterView {
  const snapshot = emptySnapshot();
  const reflect = <T>(resource: Resource, decode: (raw: unknown) => Decoded<T>): Reflector<T> =>
    createReflector({ ...options, resource, slim: decodeWith(decode), backoff: PROMPT_BACKOFF });
  const classes = reflect(PRIORITY_CLASSES, decodeAnnotatedClass);
  const namespaces = reflect(NAMESPACES, decodeNamespace);
  const nodes = reflect(NODES, decodeNode);
  const budgets = reflect(PDBS, decodeBudget);
  const pods = reflect(PODS, decodePod);
  follow(
    namespaces,
    (each: Namespace) => putNamespace(snapshot, each),
    ({ name }) => removeNamespace(snapshot, name),
  );
  follow(
    nodes,
    (each: Node) => putNode(snapshot, each),
    ({ name }) => removeNode(snapshot, name),
  );
  follow(
    budgets,
    (each: DisruptionBudget) => putBudget(snapshot, each),
    (each) => removeBudget(snapshot, each),
  );
  follow(
    pods,
    (each: Pod) => putPod(snapshot, each),
    (each) => removePod(snapshot, each),
  );
  const byName = { classes, namespaces, nodes, budgets, pods };
  return {
    snapshot,
    classes,
    reflectors: Object.values<Reflector<unknown>>(byName),
    missing: () =>
      Object.entries<Reflector<unknown>>(byName).flatMap(([name, each]) => (each.isSynced() ? [] : [name])),
  };
}

function decodeWith<T>(decode: (raw: unknown) => Decoded<T>): (raw: unknown) => T | undefined {
  return (raw) => {
    const decoded = decode(raw);
    return decoded.ok ? decoded.value : undefined;
  };
}

function follow<T>(reflector: Reflector<T>, put: (value: T) => void, remove: (value: T) => void): void {
  reflector.onChange(({ kind, value }) => (kind === 'deleted' ? remove : put)(value));
}
