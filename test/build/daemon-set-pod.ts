import type { Pod } from '#shared/domain/pod/pod.ts';

/** The pod with a DaemonSet as its controller; of another API group, it only has the name of one. */
export function daemonSetPod(pod: Pod, apiVersion = 'apps/v1'): Pod {
  return { ...pod, owners: [{ apiVersion, kind: 'DaemonSet', name: 'd', uid: 'd', isController: true }] };
}
