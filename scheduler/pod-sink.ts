import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putPod, removePodByKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import { type KubeObject, objectKey } from '#shared/kube/kube-object.ts';
import type { ReportError } from '#shared/kube/reflector/list-watch.ts';
import type { ObjectSink } from '#shared/kube/reflector/reflector-store.ts';
import { createUnseenKeys } from '#shared/kube/reflector/unseen-keys.ts';
import type { ObservePod } from './preemptions/seen-pod.ts';

/**
 * Takes pods straight into a snapshot, by their UIDs: beside the snapshot's own map of 150,000 pods a second one would be
 * 7 MiB. A pod that cannot be read is reported and left out.
 */
export function createPodSink(
  snapshot: ClusterSnapshot,
  readPod: (raw: KubeObject) => Pod,
  report: ReportError,
  observe: ObservePod,
): ObjectSink {
  const remove = (uid: string): void => removePodByKey(snapshot, uid);
  const unseen = createUnseenKeys(remove);
  return {
    set: (raw) => {
      const uid = uidOf(raw);
      unseen.see(uid);
      const previous = snapshot.placedPods.get(uid);
      try {
        const pod = readPod(raw);
        putPod(snapshot, pod);
        observe({ pod, raw, previous }, snapshot);
      } catch (error) {
        remove(uid);
        report(error, `object ${objectKey(raw.metadata)} cannot be read`);
      }
    },
    remove: (raw) => remove(uidOf(raw)),
    replace: () => unseen.begin(snapshot.placedPods.keys()),
  };
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}
