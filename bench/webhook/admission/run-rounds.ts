import type { KubeClient } from '#shared/kube/client/client.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { type Block, type BlockSize, runBlock } from './run-block.ts';
import type { Variant } from './variants.ts';

/** The blocks of each variant, in order of the rounds. */
export type Blocks = ReadonlyMap<string, readonly Block[]>;

/** Settings of every block, and the number of blocks per variant. */
export interface Rounds extends BlockSize {
  readonly clients: number;
  readonly rounds: number;
  readonly variants: readonly Variant[];
}

const SEED = 7;

/** Each round has one block of each variant, in its own order; an additional first round warms up. */
export async function runRounds(
  newClient: () => KubeClient,
  { clients, rounds, variants, ...size }: Rounds,
): Promise<Blocks> {
  const random = randomSource(SEED);
  const own = Array.from({ length: clients }, newClient);
  const blocks = new Map<string, Block[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of random.shuffled(variants)) {
      const block = await runBlock(own, variant, size);
      if (round > 0) blocks.get(variant.name)?.push(block);
    }
  }
  for (const client of own) client.close();
  return blocks;
}
