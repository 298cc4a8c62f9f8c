import { beforeAll, inject } from 'vitest';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import type { ContractTarget } from '#test/contract/harness.ts';

/** Whether this run has a cluster to test on. */
export function hasCluster(): boolean {
  return inject('kubeconfig') !== '';
}

/** Registers a hook of the present `describe` that finds the cluster which all files share. */
export function clusterTarget(): () => ContractTarget {
  const found: { target?: ContractTarget } = {};
  beforeAll(async () => {
    found.target = { kind: 'real', connection: await kubeconfigConnection(inject('kubeconfig')) };
  });
  return () => {
    if (found.target === undefined) throw new Error('the cluster is not up');
    return found.target;
  };
}
