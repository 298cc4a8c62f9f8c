import { describe } from 'vitest';
import { apiServerContract } from '#test/contract/api-server.ts';
import { clusterTarget, hasCluster } from './support/control-plane/cluster-target.ts';

describe.skipIf(!hasCluster())('a real kube-apiserver', () => {
  apiServerContract(clusterTarget());
});
