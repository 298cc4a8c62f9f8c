import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentConfiguration } from './configuration.ts';
import type { KubeletAddress } from './observe/kubelet/kubelet-summary.ts';
import { meminfoSource } from './observe/kernel/meminfo.ts';
import { askNodeOsUtils, askSysteminformation } from './observe/node/second-opinions.ts';
import type { PodHistory } from './cross-check/pod-history.ts';
import { type Peer, memoryPeer, type ReadOwn } from './cross-check/peer.ts';
import { kubeletPeer } from './cross-check/kubelet-peer.ts';

export interface PeerPorts {
  readonly kubelet: KubeletAddress | undefined;
  /** Whether /proc is that of the node. */
  readonly isNodesKernel: () => boolean;
  /** The memory signal over the last seconds. */
  readonly signal: ReadOwn;
  /** Pod usage, read now. */
  readonly pods: () => UsageByUid;
  readonly history: PodHistory;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** MemAvailable, read now: the value that the libraries report. */
function kernelMemory(procfs: string): ReadOwn {
  const meminfo = meminfoSource(procfs);
  return () => {
    const answer = meminfo.read();
    if (answer.kind !== 'reading') return undefined;
    const { totalBytes, availableBytes } = answer.value;
    return { totalBytes, lowBytes: availableBytes, highBytes: availableBytes };
  };
}

/**
 * The sources that the node's memory is compared with. The libraries read this machine's /proc; compared with a summary
 * of another machine (the sandbox's virtual node), the totals show that the two are not comparable.
 */
export function wirePeers(
  { crossCheck, source, path }: AgentConfiguration,
  { kubelet, signal, isNodesKernel, ...known }: PeerPorts,
): readonly Peer[] {
  if (!crossCheck.enabled) return [];
  const toleranceShare = crossCheck.tolerancePercent / 100;
  const kernel = kernelMemory(path.procfs);
  const own: ReadOwn = () => (source === 'kernel' || isNodesKernel() ? kernel() : signal());
  const libraries: readonly Peer[] = [
    memoryPeer('systeminformation', askSysteminformation, own, toleranceShare),
    memoryPeer('node-os-utils', askNodeOsUtils, own, toleranceShare),
  ];
  if (source === 'summary' || kubelet === undefined) return libraries;
  return [...libraries, kubeletPeer({ kubelet, signal, toleranceShare, ...known })];
}
