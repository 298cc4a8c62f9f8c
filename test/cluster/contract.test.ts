import { beforeAll, describe } from 'vitest';
import { apiServerContract } from '#test/contract/api-server.ts';
import type { ContractTarget } from '#test/contract/harness.ts';
import { kubeconfigConnection } from '#shared/kube/kubeconfig-connection.ts';

describe('a real kube-apiserver keeps the contract', () => {
  const target: { current?: ContractTarget } = {};
  beforeAll(async () => {
    target.current = { kind: 'real', connection: await kubeconfigConnection(process.env['PLIMSOLL_TEST_KUBECONFIG']) };
  });
  apiServerContract(() => {
    if (target.current === undefined) throw new Error('the cluster is not up');
    return target.current;
  });
});
