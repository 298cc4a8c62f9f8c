import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { putPod, removePodByKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import { type KubeObject, objectKey } from '#shared/kube/kube-object.ts';
import type { ReportError } from '#shared/kube/reflector/list-watch.ts';
import { createUnseenKeys } from '#shared/kube/reflector/reflector.ts';
import type { ObjectSink } from '#shared/kube/reflector/reflector-target.ts';
import { CompactPod, TemplatePool } from './compact-pod.ts';
import type { GonePod } from './disruptions/watch-removals.ts';
import type { ObservePod } from './preemptions/preemption-loops.ts';
import { createPodReader } from './read-pods.ts';

/** Observes pods after the snapshot has recorded their change. */
export interface PodObservers {
  readonly observePod: ObservePod;
  readonly observeGone?: ((uid: string, gone: GonePod, snapshot: ClusterSnapshot) => void) | undefined;
}

/**
 * Stores pods directly in a snapshot, by UID. A second map in addition to the snapshot's own map of 150,000 pods would
 * take 7 MiB. A pod that cannot be decoded is reported and left out.
 */
export function createPodSink(snapshot: ClusterSnapshot, report: ReportError, observers: PodObservers): ObjectSink {
  const templates = new TemplatePool();
  const readPod = createPodReader(templates);
  const release = (pod: Pod | undefined): void => {
    if (pod instanceof CompactPod) templates.release(pod.template);
  };
  const forget = (uid: string): PlacedPod | undefined => {
    const placed = snapshot.placedPods.get(uid);
    release(placed?.pod);
    removePodByKey(snapshot, uid);
    return placed;
  };
  const remove = (uid: string, raw?: KubeObject): void => {
    const placed = forget(uid);
    observers.observeGone?.(uid, { placed, raw }, snapshot);
  };
  const put = (raw: KubeObject, uid: string): void => {
    const previous = snapshot.placedPods.get(uid);
    const pod = readPod(raw);
    putPod(snapshot, pod);
    release(previous?.pod);
    if (!snapshot.placedPods.has(uid)) release(pod);
    observers.observePod({ pod, raw, previous }, snapshot);
  };
  const unseen = createUnseenKeys((uid) => remove(uid));
  return {
    set: (raw) => {
      const uid = uidOf(raw);
      unseen.see(uid);
      try {
        put(raw, uid);
      } catch (error) {
        forget(uid);
        report(error, `object ${objectKey(raw.metadata)} cannot be read`);
      }
    },
    remove: (raw) => remove(uidOf(raw), raw),
    replace: () => unseen.begin(snapshot.placedPods.keys()),
  };
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}
