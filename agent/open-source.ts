import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ClusterConnection } from '#shared/kube/connection.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentConfiguration } from './configuration.ts';
import { findCgroupLayout } from './observe/cgroup-layout.ts';
import { createKernelNode } from './observe/kernel-node.ts';
import type { KubeletAddress } from './observe/kubelet-summary.ts';
import type { NodeSource } from './observe/node-source.ts';
import { createSummaryNode } from './observe/summary-node.ts';

/** Where the kubelet answers; `undefined` where no address is configured. */
export function kubeletAddress(
  { kubelet }: AgentConfiguration,
  connection: ClusterConnection,
): KubeletAddress | undefined {
  const { url, tokenFile, caFile, skipTlsVerify } = kubelet;
  if (url === undefined) return undefined;
  return {
    url: url.replace(/\/+$/, ''),
    token: tokenFile === undefined ? connection.token : async () => (await readFile(tokenFile, 'utf8')).trim(),
    ca: caFile === undefined ? connection.ca : readFileSync(caFile, 'utf8'),
    skipTlsVerify,
  };
}

/** The cgroup root below the mounted /sys, unless it is elsewhere. */
export function cgroupRoot({ path }: AgentConfiguration): string {
  return path.cgroupfs ?? `${path.sysfs}/fs/cgroup`;
}

/** Opens what the configuration names; throws where that cannot tell how the node is. */
export function openSource(
  configuration: AgentConfiguration,
  kubelet: KubeletAddress | undefined,
  clock: Clock,
): NodeSource {
  const { source, path, period } = configuration;
  if (source === 'summary') {
    if (kubelet === undefined) throw new Error('cannot use source "summary": kubelet.url is missing');
    return createSummaryNode({ kubelet, periodMs: period.farMs, clock });
  }
  const found = findCgroupLayout(cgroupRoot(configuration), path.kubepods);
  if (found.kind === 'unknown') throw new Error(`cannot use source "kernel": ${found.because}`);
  return createKernelNode({
    proc: path.procfs,
    layout: found.layout,
    nodefs: path.nodefs,
    imagefs: path.imagefs,
    clock,
  });
}
