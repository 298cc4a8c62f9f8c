import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { NamedPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { AnnotatedClass } from '#shared/kube/annotations/annotations.ts';

/** A cluster, or a part of one, as simulated decisions see it. */
export interface SimulatedCluster {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly budgets: readonly DisruptionBudget[];
  readonly namespaces: readonly Namespace[];
  readonly classes: ReadonlyMap<string, AnnotatedClass>;
  readonly policies: readonly NamedPolicy[];
  readonly pressures: readonly NodePressure[];
}
