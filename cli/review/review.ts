import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { assumeStatus } from './assume-status.ts';
import { openRunningUsage } from './running-usage.ts';
import { judgeManifest } from './judge-manifest.ts';
import type { Manifest } from '#cli/manifests/manifest.ts';
import { rowOf, type Row } from './row.ts';
import { sortManifests } from './sort-manifests.ts';
import { readSurroundings } from './cluster-state.ts';

export interface ReviewInput {
  readonly manifests: readonly Manifest[];
  /** Objects of the cluster; those among the manifests replace them. */
  readonly inCluster: readonly Manifest[];
  /** Pods of the cluster; without any only those among the manifests are known. */
  readonly knownPods?: KnownPods | undefined;
  readonly requester: Requester;
  /** Where objects go that name no namespace. */
  readonly namespace: string;
  readonly now: Instant;
}

export interface Review {
  /** One for each object that was judged, in the order given. */
  readonly rows: readonly Row[];
  readonly ignored: readonly Manifest[];
}

/** Judges pods and workloads one after the other. Throws an InputError for what they cannot be judged by. */
export function review({ manifests, inCluster, knownPods, requester, namespace, now }: ReviewInput): Review {
  const { judged, state, ignored } = sortManifests(manifests);
  const known = readSurroundings([...inCluster, ...state.map(assumeStatus)], namespace);
  const usage = openRunningUsage(known, now, knownPods);
  const rows = judged.map((manifest) => {
    return rowOf(manifest, judgeManifest(manifest, usage, { requester, namespace }), namespace);
  });
  return { rows, ignored };
}
