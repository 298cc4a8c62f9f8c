import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  LABEL_APPLICATION,
  LABEL_APPLICATION_OF_OTHERS,
  LABEL_ORIGINATOR,
  LABEL_QUEUES,
  LABEL_SPARK_ROLE,
  QUEUE_GATE,
  QUEUES_MANAGED,
} from '#shared/kube/api-names.ts';
import { fieldOf, itemsOf } from '#shared/kube/kube-object.ts';

/*
 * What pods and namespaces say to the queues, by labels and scheduling gates: the leader and the command line read the same.
 */

/** Whether pods of a namespace with these labels wait in queues. */
export function isManaged(labels: ReadonlyMap<string, string> | undefined): boolean {
  return labels?.get(LABEL_QUEUES) === QUEUES_MANAGED;
}

/** By its own label, the label that Spark and YuniKorn set, its controller, or the pod alone. */
export function applicationOf({
  labels,
  namespace,
  owners,
  uid,
}: Pick<Pod, 'labels' | 'namespace' | 'owners' | 'uid'>): string {
  const name = labels.get(LABEL_APPLICATION) ?? labels.get(LABEL_APPLICATION_OF_OTHERS);
  if (name !== undefined) return `${namespace}/${name}`;
  return controllerOf({ owners })?.uid ?? uid;
}

/** By the label, or as Spark marks its drivers. */
export function isMarkedOriginator({ labels }: Pick<Pod, 'labels'>): boolean {
  return labels.get(LABEL_ORIGINATOR) === 'true' || labels.get(LABEL_SPARK_ROLE) === 'driver';
}

/** The names of the other scheduling gates of a pod that ours holds back; `undefined` where ours is off. */
export function otherGates(raw: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const gates = itemsOf(fieldOf(raw['spec'], 'schedulingGates'));
  if (gates.length === 0) return undefined;
  const names = gates.map((gate) => String(fieldOf(gate, 'name')));
  return names.includes(QUEUE_GATE) ? names.filter((name) => name !== QUEUE_GATE) : undefined;
}
