import { beforeAll, describe, inject } from 'vitest';
import { kubeconfigConnection } from '#shared/kube/kubeconfig-connection.ts';
import { apiServerContract } from '#test/contract/api-server.ts';
import type { ContractTarget } from '#test/contract/harness.ts';

const kubeconfig = inject('kubeconfig');

describe.skipIf(kubeconfig === '')('a real kube-apiserver', () => {
  const found: { target?: ContractTarget } = {};
  beforeAll(async () => {
    found.target = { kind: 'real', connection: await kubeconfigConnection(kubeconfig) };
  });
  apiServerContract(() => {
    if (found.target === undefined) throw new Error('the cluster is not up');
    return found.target;
  });
});
