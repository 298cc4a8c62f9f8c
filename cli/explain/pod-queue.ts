import { decodeAdmitted } from '#shared/api/admitted.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { isManaged } from '#shared/kube/annotations/queue-marks.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import type { ClusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { type ClusterManifests, readManifests } from '#cli/cluster/read-manifests.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { queueScene } from '#cli/simulate/queue-scene.ts';
import { queueView } from '#cli/simulate/queue-view.ts';
import { admittedTo, inQueue, IN_NO_QUEUE } from './messages.ts';

/**
 * In which queue a pod stands and what it waits for, as the leader of the queues would decide now; `undefined` in
 * namespaces whose pods do not wait. The Queues of a cluster are read only then.
 */
export async function queueOfPod(
  pod: Pod,
  { read, model, options }: { read: ClusterManifests; model: ClusterModel; options: ClusterOptions },
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<string | undefined> {
  if (!isManaged(model.namespaces.find(({ name }) => name === pod.namespace)?.labels)) return undefined;
  const admitted = decodeAdmitted(pod.annotations.get(ANNOTATION_ADMITTED));
  if (admitted !== undefined) return admittedTo(admitted.queue, new Date(admitted.at).toISOString());
  const queues = options.filename === undefined ? (await readManifests(options, [QUEUES], io)).manifests : [];
  const view = queueView(queueScene({ ...read, manifests: [...read.manifests, ...queues] }), read.now);
  const key = `${pod.namespace}/${pod.name}`;
  const row = [...view.letIn, ...view.waiting].find((each) => each.pod === key);
  return row === undefined ? IN_NO_QUEUE : inQueue(row.queue, row.because.text);
}
