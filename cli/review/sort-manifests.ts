import { printable } from '#cli/output/table.ts';
import { isPod, typeOf, type Manifest } from '#cli/manifests/manifest.ts';
import { isSurrounding } from './cluster-state.ts';

/** What of the given manifests is judged, what it is judged by, and what is neither. */
export interface SortedManifests {
  readonly judged: readonly Manifest[];
  readonly state: readonly Manifest[];
  readonly ignored: readonly Manifest[];
}

const WORKLOADS: ReadonlySet<string> = new Set([
  ...['apps/v1 Deployment', 'apps/v1 StatefulSet', 'apps/v1 DaemonSet', 'apps/v1 ReplicaSet'],
  ...['v1 ReplicationController', 'batch/v1 Job', 'batch/v1 CronJob'],
]);

export function sortManifests(manifests: readonly Manifest[]): SortedManifests {
  const sorted = Map.groupBy(manifests, (manifest) => {
    if (isPod(manifest) || WORKLOADS.has(typeOf(manifest))) return 'judged';
    return isSurrounding(manifest) ? 'state' : 'ignored';
  });
  return {
    judged: sorted.get('judged') ?? [],
    state: sorted.get('state') ?? [],
    ignored: sorted.get('ignored') ?? [],
  };
}

/** One line about what was ignored, none where nothing was. */
export function describeIgnored(ignored: readonly Manifest[]): readonly string[] {
  if (ignored.length === 0) return [];
  const counts = Map.groupBy(ignored, typeOf);
  const kinds = Array.from(counts, ([type, all]) => `${type} (${all.length})`).toSorted();
  return [printable(`Note: ignored objects of other kinds: ${kinds.join(', ')}`)];
}
