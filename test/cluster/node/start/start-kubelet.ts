import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { component, type Component } from '#test/cluster/support/control-plane/component.ts';
import type { ControlPlane } from '#test/cluster/support/control-plane/control-plane.ts';
import { KUBELET_CLIENT } from '#test/cluster/support/control-plane/credentials.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { kubeletConfiguration, kubeletDropIns, kubeletFlags, type KubeletLayout } from './kubelet-configuration.ts';
import type { NodePrograms } from './node-programs.ts';
import { makeOwnCgroup } from './own-cgroup.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';

export interface KubeletOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly programs: NodePrograms;
  readonly plane: Pick<ControlPlane, 'kubeconfig' | 'credentials'>;
  readonly containerdSocket: string;
}

/** Where a node of the run has its pods' cgroups, below the root of every hierarchy. */
export function cgroupRootOf(folder: string): string {
  return basename(folder);
}

/** Starts a kubelet and waits until its node takes pods. Rejects with its log when it does not come up. */
export async function startKubelet({ folder, programs, plane, containerdSocket }: KubeletOptions): Promise<Component> {
  const { credentials, kubeconfig } = plane;
  const layout: KubeletLayout = {
    folder: join(folder, 'kubelet'),
    caFile: credentials.caFile,
    serving: credentials.kubelet,
    kubeconfig: credentials.kubeconfig('kubelet'),
    containerdSocket,
    cgroupRoot: cgroupRootOf(folder),
  };
  makeOwnCgroup(layout.cgroupRoot, folder);
  writeFiles(layout);
  const log = join(folder, 'kubelet.log');
  const kubelet = component(programs.paths.kubelet, kubeletFlags(layout), log, markedEnvironment(folder));
  kubelet.start();
  const client = await testClient(kubeconfig);
  try {
    await letApiServerAskKubelets(client);
    const isReady = async (): Promise<boolean> => (await countReadyNodes(client)) > 0;
    await waitUntil(isReady, { what: 'the node', components: [['kubelet', kubelet]] });
  } finally {
    client.close();
  }
  return kubelet;
}

function writeFiles(layout: KubeletLayout): void {
  mkdirSync(kubeletDropIns(layout.folder), { recursive: true });
  writeFileSync(join(layout.folder, 'resolv.conf'), '');
  writeFileSync(join(layout.folder, 'kubelet.json'), JSON.stringify(kubeletConfiguration(layout)));
}

/** For logs, exec and statistics through the API server: the kubelet asks it who may. */
async function letApiServerAskKubelets(client: KubeClient): Promise<void> {
  const outcome = await client.request({
    method: 'POST',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    body: {
      metadata: { name: KUBELET_CLIENT },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: KUBELET_CLIENT }],
    },
  });
  if (outcome.kind !== 'ok') throw new Error(`cannot let the API server ask kubelets: ${outcome.message}`);
}
