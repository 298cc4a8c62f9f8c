import type { KubeClient } from '#shared/kube/client.ts';
import { type Created, createPod } from './create-pod.ts';
import { podsPath, type Variant } from './variants.ts';

/** Creates in a row, made by several clients at a time. */
export interface Block {
  readonly latenciesMs: readonly number[];
  readonly repeats: number;
  readonly perSecond: number;
}

/** Creates `count` pods, one after the other in each client, and removes them outside of what is measured. */
export async function runBlock(clients: readonly KubeClient[], variant: Variant, count: number): Promise<Block> {
  const left = Array.from({ length: count }, (_, index) => `pod-${index}`).values();
  const created: Created[] = [];
  const begin = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (const name of left) created.push(await createPod(client, variant, name));
    }),
  );
  const perSecond = (count * 1_000) / (performance.now() - begin);
  const [client] = clients;
  await client?.request({ method: 'DELETE', path: podsPath(variant), query: { gracePeriodSeconds: 0 } });
  const repeats = created.reduce((sum, each) => sum + each.repeats, 0);
  return { latenciesMs: created.map(({ tookMs }) => tookMs), repeats, perSecond };
}
