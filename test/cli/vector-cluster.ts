import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { type Manifest, manifestsIn } from '#cli/manifests/parse-manifests.ts';
import type { Vector } from '#test/conformance/read-vectors.ts';

/** What kube-scheduler answered in a recorded case. */
export interface RecordedAnswer {
  readonly candidates: readonly { readonly node: string; readonly victims: readonly string[] }[];
  readonly best: readonly string[];
  readonly unschedulable: string;
}

const KINDS: readonly (readonly [string, string, string])[] = [
  ['nodes', 'v1', 'Node'],
  ['pods', 'v1', 'Pod'],
  ['nominated', 'v1', 'Pod'],
  ['pdbs', 'policy/v1', 'PodDisruptionBudget'],
  ['namespaces', 'v1', 'Namespace'],
];

/** The cluster of a recorded preemption, and the pending pod in it, as a snapshot file would hold them. */
export function vectorCluster(vector: Vector): ClusterManifests {
  const items = KINDS.flatMap(([field, apiVersion, kind]) =>
    ((vector[field] ?? []) as readonly object[]).map((object) => ({ apiVersion, kind, ...object })),
  );
  const pending = { apiVersion: 'v1', kind: 'Pod', ...(vector['pod'] as object) };
  return { manifests: manifestsOf([...items, pending]), now: 0, namespace: 'default' };
}

/** The pending pod of a recorded preemption. */
export function pendingPod(vector: Vector): string {
  const { namespace = 'default', name } = (vector['pod'] as PodObject).metadata;
  return `${namespace}/${name}`;
}

interface PodObject {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

export function manifestsOf(items: readonly object[]): readonly Manifest[] {
  return manifestsIn({ apiVersion: 'v1', kind: 'List', items }, 'test');
}
