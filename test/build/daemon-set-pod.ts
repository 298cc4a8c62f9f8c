import type { Pod } from '#shared/domain/pod/pod.ts';

/** The DaemonSet of these pods, as a snapshot knows those that exist. */
export const DAEMON_SETS = new Map([['default/d', 'd']]);

/**
 * The pod with a DaemonSet as its controller, tied to the node where it is, to which it is nominated, or `n0`. Of another
 * API group, it only has the name of one.
 */
export function daemonSetPod(pod: Pod, apiVersion = 'apps/v1'): Pod {
  const node = pod.spec.nodeName ?? pod.status.nominatedNodeName ?? 'n0';
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const scheduling = { ...pod.spec.scheduling, nodeAffinity: { terms: [{ matchExpressions: [], matchFields }] } };
  return {
    ...pod,
    owners: [{ apiVersion, kind: 'DaemonSet', name: 'd', uid: 'd', isController: true }],
    spec: { ...pod.spec, scheduling },
  };
}
