import { join } from 'node:path';
import { WORKLOAD_IMAGE } from '#test/cluster/node/image/workload-image.ts';

/** Where containerd keeps and finds things. */
export interface ContainerdLayout {
  /** Its own folder: content, state and socket. */
  readonly folder: string;
  readonly runc: string;
  /** The folder of the CNI plugins. */
  readonly networkPlugins: string;
  /** The folder of the network's description. */
  readonly networks: string;
}

/** The socket below the folder. */
export function containerdSocket(folder: string): string {
  return join(folder, 'containerd.sock');
}

/**
 * containerd's TOML: overlayfs, runc with the cgroupfs driver, and nothing that needs more than an ordinary
 * administrator's rights. `restrict_oom_score_adj` is what lets a pod start where CAP_SYS_RESOURCE is missing.
 */
export function containerdConfiguration({ folder, runc, networkPlugins, networks }: ContainerdLayout): string {
  return `version = 3
root = "${join(folder, 'root')}"
state = "${join(folder, 'state')}"
oom_score = 0
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri", "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "${containerdSocket(folder)}"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "${WORKLOAD_IMAGE}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["${networkPlugins}"]
    conf_dir = "${networks}"
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = "${runc}"
        SystemdCgroup = false
`;
}

/** A bridge for the pods of one node, without address translation: they reach the node and the API server. */
export function podNetwork(dataFolder: string): object {
  const ipam = {
    type: 'host-local',
    dataDir: dataFolder,
    ranges: [[{ subnet: '10.244.0.0/24' }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'pods0', isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  return { cniVersion: '1.0.0', name: 'pods', plugins: [bridge] };
}
