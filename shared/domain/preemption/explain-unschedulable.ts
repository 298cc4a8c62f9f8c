import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { examineNodes } from './examine-nodes.ts';
import { prefilter } from './prefilter-state.ts';

/** Kubernetes' text on why a pod fits nowhere; `undefined` where it fits somewhere. */
export function explainUnschedulable(snapshot: ClusterSnapshot, pod: Pod): string | undefined {
  const examination = examineNodes(prefilter(snapshot, pod));
  return examination.kind === 'fits' ? undefined : examination.text;
}
