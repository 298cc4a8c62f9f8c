import type { NodePrograms } from '#test/cluster/node/start/node-programs.ts';

/** Where the programs of a node are in the guest. */
export const GUEST_PROGRAMS: NodePrograms = {
  kind: 'found',
  paths: {
    kubelet: '/bin/kubelet',
    containerd: '/bin/containerd',
    'containerd-shim-runc-v2': '/bin/containerd-shim-runc-v2',
    ctr: '/bin/ctr',
    runc: '/bin/runc',
    workload: '/bin/workload',
  },
  networkPlugins: '/cni',
};
