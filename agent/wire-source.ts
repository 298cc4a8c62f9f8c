import { readFile } from 'node:fs/promises';
import type { MemoryReadings } from '#shared/domain/pressure/memory-figure.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { followCertificates } from '#shared/runtime/certificate-file.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { AgentConfiguration } from './configuration.ts';
import { type CgroupLayout, findCgroupLayout, type LayoutFound } from './observe/cgroup/cgroup-layout.ts';
import { createFallbackNode, unreadable } from './observe/node/fallback-node.ts';
import { reclaimableMemory, meminfoSource } from './observe/node/kernel-memory.ts';
import { createFollowingNode, withPodFallback } from './observe/node/following-node.ts';
import { createKernelNode, withOwnKernel } from './observe/node/kernel-node.ts';
import { type KubeletAddress, kubeletUrl } from './observe/kubelet/kubelet-summary.ts';
import { valueOf } from './observe/source/source.ts';
import type { NodeSource, ObservedPod } from './observe/node/node-source.ts';
import { createSummaryNode } from './observe/kubelet/summary-node.ts';
import { askNodeOsUtils, askSysteminformation } from './observe/node/second-opinions.ts';
import type { OwnFigures } from './cross-check/own-figures.ts';
import { type Peer, memoryPeer, type ReadOwn, kubeletPeer } from './cross-check/peer.ts';

interface FileContext {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Address and credentials of the kubelet; `undefined` if no address is configured. The CA is that of the API server
 * unless a file is named; any CA file, including the API server's, is followed.
 */
export function kubeletAddress(
  { kubelet }: AgentConfiguration,
  connection: ClusterConnection,
  context: FileContext,
): KubeletAddress | undefined {
  const { url, tokenFile, caFile, skipTlsVerify } = kubelet;
  if (url === undefined) return undefined;
  return {
    url: kubeletUrl(url),
    token: tokenFile === undefined ? connection.token : async () => (await readFile(tokenFile, 'utf8')).trim(),
    ca: caFile === undefined ? authorityOf(connection, context) : followCertificates(caFile, context),
    skipTlsVerify,
  };
}

function authorityOf({ ca, caFile }: ClusterConnection, context: FileContext): KubeletAddress['ca'] {
  if (ca === undefined) return undefined;
  return caFile === undefined ? () => ca : followCertificates(caFile, context, ca);
}

/** The cgroup root: `path.cgroupfs`, or fs/cgroup below the mounted /sys. */
export function cgroupRoot({ path }: AgentConfiguration): string {
  return path.cgroupfs ?? `${path.sysfs}/fs/cgroup`;
}

interface SourcePorts {
  readonly kubelet: KubeletAddress | undefined;
  readonly isNodesKernel: () => boolean;
  readonly clock: Clock;
}

/** Opens the configured source; throws when it cannot provide node figures. */
export function openSource(
  configuration: AgentConfiguration,
  { kubelet, isNodesKernel, clock }: SourcePorts,
): NodeSource {
  if (configuration.source === 'summary') {
    const summary = openSummary(configuration, required(kubelet), clock);
    return withOwnKernel(summary, { proc: configuration.path.procfs, isNodesKernel, clock });
  }
  if (kubelet !== undefined) return openWithFallback(configuration, kubelet, clock);
  const opened = openKernel(configuration, clock);
  if ('code' in opened) throw new Error(`cannot use source "kernel": ${String(opened.facts['why'])}`);
  return opened;
}

function required(kubelet: KubeletAddress | undefined): KubeletAddress {
  if (kubelet === undefined) throw new Error('cannot use source "summary": kubelet.url is missing');
  return kubelet;
}

function openSummary(
  { period }: AgentConfiguration,
  kubelet: KubeletAddress,
  clock: Clock,
  isWanted: () => boolean = () => true,
): NodeSource {
  return createSummaryNode({ kubelet, periodMs: period.farMs, isWanted, clock });
}

function openWithFallback(configuration: AgentConfiguration, kubelet: KubeletAddress, clock: Clock): NodeSource {
  const isWanted = (): boolean => source.fallback() !== undefined;
  const summary = openSummary(configuration, kubelet, clock, isWanted);
  const meminfo = meminfoSource(configuration.path.procfs);
  const reclaimable = (nowMs: number): MemoryReadings => {
    const node = valueOf(meminfo.read());
    return { memory: node && reclaimableMemory(node, 0, nowMs) };
  };
  const kernel = createFallbackNode({
    openKernel: () => openKernel(configuration, clock),
    summary,
    reclaimable,
    clock,
  });
  const source = withPodFallback(kernel, summary, clock);
  return source;
}

/** Opens the kernel files, or returns why their layout cannot be used. */
function openKernel(configuration: AgentConfiguration, clock: Clock): NodeSource | Because {
  const { procfs: proc, nodefs, imagefs, kubepods } = configuration.path;
  const find = (pods: readonly ObservedPod[]): LayoutFound =>
    findCgroupLayout(
      cgroupRoot(configuration),
      kubepods,
      pods.map(({ cgroup }) => cgroup),
    );
  const found = find([]);
  if (found.kind === 'unknown') return unreadable(found.because);
  return createFollowingNode({
    layout: found.layout,
    findLayout: (pods) => layoutOf(find(pods)),
    open: (layout) => createKernelNode({ proc, layout, nodefs, imagefs, clock }),
    nowMs: clock.monotonic(),
  });
}

function layoutOf(found: LayoutFound): CgroupLayout | undefined {
  return found.kind === 'layout' ? found.layout : undefined;
}

export interface PeerPorts {
  readonly kubelet: KubeletAddress | undefined;
  /** Whether /proc is that of the node. */
  readonly isNodesKernel: () => boolean;
  readonly figures: OwnFigures;
  /** Pod usage, read now. */
  readonly pods: () => UsageByUid;
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
  { kubelet, figures, isNodesKernel, ...known }: PeerPorts,
): readonly Peer[] {
  if (!crossCheck.enabled) return [];
  const toleranceShare = crossCheck.tolerancePercent / 100;
  const kernel = kernelMemory(path.procfs);
  const own: ReadOwn = () => (source === 'kernel' || isNodesKernel() ? kernel() : figures.memory());
  const libraries: readonly Peer[] = [
    memoryPeer('systeminformation', askSysteminformation, own, toleranceShare),
    memoryPeer('node-os-utils', askNodeOsUtils, own, toleranceShare),
  ];
  if (source === 'summary' || kubelet === undefined) return libraries;
  return [...libraries, kubeletPeer({ kubelet, figures, toleranceShare, ...known })];
}
