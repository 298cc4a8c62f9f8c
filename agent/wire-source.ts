import { readFile } from 'node:fs/promises';
import { type MemoryReadings, NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { followCertificates } from '#shared/runtime/certificate-file.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { AgentConfiguration } from './configuration.ts';
import { type CgroupLayout, findCgroupLayout, type LayoutFound } from './observe/cgroup/cgroup-layout.ts';
import { createFallbackNode, unreadable } from './observe/node/fallback-node.ts';
import { reclaimableMemory } from './observe/node/kernel-memory.ts';
import { createFollowingNode } from './observe/node/following-node.ts';
import { createKernelNode } from './observe/node/kernel-node.ts';
import type { KubeletAddress } from './observe/kubelet/kubelet-summary.ts';
import { kubeletUrl } from './observe/kubelet/kubelet-url.ts';
import { meminfoSource } from './observe/kernel/meminfo.ts';
import { valueOf } from './observe/source/reading.ts';
import type { NodeSource, ObservedPod } from './observe/node/node-source.ts';
import { withPodFallback } from './observe/node/pod-fallback.ts';
import { withOwnKernel } from './observe/node/own-kernel.ts';
import { createSummaryNode } from './observe/kubelet/summary-node.ts';

interface Surroundings {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Address and credentials of the kubelet; `undefined` when no address is configured. Its CA is that of the API server
 * unless a file is named; a file, also that of the API server's CA, is followed.
 */
export function kubeletAddress(
  { kubelet }: AgentConfiguration,
  connection: ClusterConnection,
  surroundings: Surroundings,
): KubeletAddress | undefined {
  const { url, tokenFile, caFile, skipTlsVerify } = kubelet;
  if (url === undefined) return undefined;
  return {
    url: kubeletUrl(url),
    token: tokenFile === undefined ? connection.token : async () => (await readFile(tokenFile, 'utf8')).trim(),
    ca: caFile === undefined ? authorityOf(connection, surroundings) : followCertificates(caFile, surroundings),
    skipTlsVerify,
  };
}

function authorityOf({ ca, caFile }: ClusterConnection, surroundings: Surroundings): KubeletAddress['ca'] {
  if (ca === undefined) return undefined;
  return caFile === undefined ? () => ca : followCertificates(caFile, surroundings, ca);
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
    return { ...NO_MEMORY_READINGS, memory: node && reclaimableMemory(node, 0, nowMs) };
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
