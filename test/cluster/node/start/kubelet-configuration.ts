import { join } from 'node:path';
import type { CertificateFiles } from '#test/cluster/support/control-plane/credentials.ts';
import { NODE_ADDRESS, NODE_NAME } from '#test/cluster/node/node-place.ts';

/** What a kubelet reads, all below one folder. */
export interface KubeletLayout {
  readonly folder: string;
  readonly caFile: string;
  readonly serving: CertificateFiles;
  readonly kubeconfig: string;
  readonly containerdSocket: string;
  /** Path of the group above `kubepods`, below the root of every hierarchy. */
  readonly cgroupRoot: string;
}

/** The configuration file. Thresholds are so low that only a drop-in of a test makes the kubelet evict a pod. */
export function kubeletConfiguration(layout: KubeletLayout): object {
  const { folder, caFile, serving } = layout;
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NODE_ADDRESS,
    healthzBindAddress: '127.0.0.1',
    containerRuntimeEndpoint: `unix://${layout.containerdSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${layout.cgroupRoot}`,
    failCgroupV1: false,
    failSwapOn: false,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: caFile } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: serving.certFile,
    tlsPrivateKeyFile: serving.keyFile,
    podLogsDir: join(folder, 'pod-logs'),
    resolvConf: join(folder, 'resolv.conf'),
    makeIPTablesUtilChains: false,
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    nodeStatusUpdateFrequency: '2s',
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'nodefs.inodesFree': '1%' },
    evictionPressureTransitionPeriod: '10s',
  };
}

/** The folder whose `*.conf` files are merged into it, key by key. */
export function kubeletDropIns(folder: string): string {
  return join(folder, 'drop-ins');
}

/** Its command line. */
export function kubeletFlags({ folder, kubeconfig }: KubeletLayout): readonly string[] {
  return [
    `--config=${join(folder, 'kubelet.json')}`,
    `--config-dir=${kubeletDropIns(folder)}`,
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${join(folder, 'root')}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    `--hostname-override=${NODE_NAME}`,
    `--node-ip=${NODE_ADDRESS}`,
    '--v=2',
  ];
}
