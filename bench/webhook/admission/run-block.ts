import type { KubeClient } from '#shared/kube/client/client.ts';
import { type Created, createPod } from './create-pod.ts';
import { podsPath, type Variant } from './variants.ts';

/** Consecutive creates by several clients. */
export interface Block {
  /** For the first creates: with cold caches and slices. Not part of the other figures. */
  readonly firstLatenciesMs: readonly number[];
  readonly latenciesMs: readonly number[];
  readonly repeats: number;
  readonly perSecond: number;
  /** CPU time of the API server per create, including its deletion; 0 if it is not measured. */
  readonly cpuMs: number;
}

/** How many creates a block has, and how many come before the measurement. */
export interface BlockSize {
  readonly first: number;
  readonly creates: number;
  /** Reads the processor time of the API server. */
  readonly serverCpu?: () => number;
}

/** Creates pods, one after the other in each client, and deletes them outside the measurement. */
export async function runBlock(clients: readonly KubeClient[], variant: Variant, size: BlockSize): Promise<Block> {
  const first = await createAll(clients, variant, namesOf('first', size.first));
  const { serverCpu = () => 0 } = size;
  const cpuBefore = serverCpu();
  const begin = performance.now();
  const created = await createAll(clients, variant, namesOf('pod', size.creates));
  const perSecond = (size.creates * 1_000) / (performance.now() - begin);
  const [client] = clients;
  await client?.request({ method: 'DELETE', path: podsPath(variant), query: { gracePeriodSeconds: 0 } });
  const cpuMs = (serverCpu() - cpuBefore) / size.creates;
  const repeats = created.reduce((sum, each) => sum + each.repeats, 0);
  return { firstLatenciesMs: latenciesOf(first), latenciesMs: latenciesOf(created), repeats, perSecond, cpuMs };
}

async function createAll(
  clients: readonly KubeClient[],
  variant: Variant,
  names: readonly string[],
): Promise<readonly Created[]> {
  const left = names.values();
  const created: Created[] = [];
  await Promise.all(
    clients.map(async (client) => {
      for (const name of left) created.push(await createPod(client, variant, name));
    }),
  );
  return created;
}

function namesOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function latenciesOf(created: readonly Created[]): readonly number[] {
  return created.map(({ tookMs }) => tookMs);
}
