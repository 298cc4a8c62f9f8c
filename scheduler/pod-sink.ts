import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putPod, removePodByKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import { type KubeObject, objectKey } from '#shared/kube/kube-object.ts';
import type { ReportError } from '#shared/kube/reflector/list-watch.ts';
import { createUnseenKeys, type ObjectSink } from '#shared/kube/reflector/reflector-store.ts';
import { CompactPod, TemplatePool } from './compact-pod.ts';
import type { ObservePod } from './preemptions/preemption-loops.ts';
import { createPodReader } from './read-pods.ts';

/**
 * Takes pods straight into a snapshot, by their UIDs: beside the snapshot's own map of 150,000 pods a second one would be
 * 7 MiB. A pod that cannot be read is reported and left out.
 */
export function createPodSink(snapshot: ClusterSnapshot, report: ReportError, observe: ObservePod): ObjectSink {
  const templates = new TemplatePool();
  const readPod = createPodReader(templates);
  const release = (pod: Pod | undefined): void => {
    if (pod instanceof CompactPod) templates.release(pod.template);
  };
  const remove = (uid: string): void => {
    release(snapshot.placedPods.get(uid)?.pod);
    removePodByKey(snapshot, uid);
  };
  const put = (raw: KubeObject, uid: string): void => {
    const previous = snapshot.placedPods.get(uid);
    const pod = readPod(raw);
    putPod(snapshot, pod);
    release(previous?.pod);
    if (!snapshot.placedPods.has(uid)) release(pod);
    observe({ pod, raw, previous }, snapshot);
  };
  const unseen = createUnseenKeys(remove);
  return {
    set: (raw) => {
      const uid = uidOf(raw);
      unseen.see(uid);
      try {
        put(raw, uid);
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
