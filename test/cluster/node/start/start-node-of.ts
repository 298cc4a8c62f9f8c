import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, type ProgramName, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { at } from '#test/contract/harness.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import { kubeletDropIns } from './kubelet-configuration.ts';
import { NODE_NAME } from '#test/cluster/node/node-place.ts';
import type { RunningNode } from '#test/cluster/node/node-under-test.ts';
import type { NodeKind } from './start-node-cluster.ts';
import { cgroupRootOf } from './start-kubelet.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { eventually } from '#test/build/waiting.ts';

const RESTARTED_WITHIN_MS = 180_000;

/** A node with a control plane of its own on this machine. */
export interface NodeOfOurs extends RunningNode {
  /** Its processes are those of this run. */
  readonly folder: string;
  readonly auditLog: string;
  /** Path of the group of all pods, below the root of every hierarchy. */
  readonly kubepods: string;
  /** Kills a program of the control plane and starts it again. */
  readonly restart: (name: ProgramName) => Promise<void>;
}

/** A cluster of its own with that node (start-node-cluster.ts). */
export async function startNodeOf(kind: NodeKind): Promise<NodeOfOurs> {
  const startup = await startCluster({ node: kind });
  if (startup.kind === 'missing') throw new Error(startup.because);
  const { cluster } = startup;
  const kubepods = `${cgroupRootOf(cluster.folder)}/kubepods`;
  return {
    folder: cluster.folder,
    kubeconfig: cluster.kubeconfig,
    auditLog: cluster.auditLog,
    kubepods,
    agentFlags: [`--path-kubepods=${kubepods}`, '--period-status-ms=20000'],
    restart: async (name) => {
      await cluster.stop(name);
      await cluster.start(name);
    },
    configureKubelet: (fragment) => configureKubelet(cluster, fragment),
    close: () => cluster.close(),
  };
}

async function configureKubelet(cluster: Cluster, fragment: object): Promise<void> {
  const dropIn = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fragment };
  writeFileSync(join(kubeletDropIns(join(cluster.folder, 'kubelet')), '50-test.conf'), JSON.stringify(dropIn));
  await cluster.stop('kubelet');
  await cluster.start('kubelet');
  const client = await testClient(cluster.kubeconfig);
  const path = `/api/v1/nodes/${NODE_NAME}/proxy/configz`;
  const isInForce = async (): Promise<void> => {
    const configuration = at(await call(client, { path }), 'kubeletconfig');
    for (const [key, value] of Object.entries(fragment)) {
      const present = at(configuration, key);
      if (JSON.stringify({ ...Object(present), ...Object(value) }) !== JSON.stringify(present))
        throw new Error(`the kubelet has not taken ${key}`);
    }
  };
  await eventually(isInForce, RESTARTED_WITHIN_MS).finally(() => client.close());
}
