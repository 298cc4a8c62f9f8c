import { expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODES } from '#shared/kube/resource.ts';
import { listAll } from '#cli/cluster/list-all.ts';

function answering(kind: 'forbidden' | 'timeout'): KubeClient {
  const answer = { kind, message: 'no' } as Outcome<unknown>;
  return { request: () => Promise.resolve(answer) } as unknown as KubeClient;
}

test('a list without the right to it says whom to ask', async () => {
  const text = 'cluster: cannot list nodes: no; ask your platform team for the right to list them';
  await expect(listAll(answering('forbidden'), NODES)).rejects.toThrow(text);
  await expect(listAll(answering('timeout'), NODES)).rejects.toThrow(/^cluster: cannot list nodes: no$/);
});
