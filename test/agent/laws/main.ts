import { describeFinding, hunt } from './hunt.ts';
import { lendRoom } from './lent-room.ts';
import { randomScenario } from './random-scenario.ts';
import { trace } from './trace.ts';

/**
 * `node test/agent/laws/main.ts SEED` prints one episode; with a number of episodes after the seed, what these broke, each
 * cause with a shrunk trace. `lent` after the number: the same nodes without and with pods in spare room, a line of JSON
 * for each slice.
 */
async function main([seed = '1', count, lent]: readonly string[]): Promise<void> {
  if (count === undefined) {
    console.log(await trace(randomScenario(Number(seed))));
    return;
  }
  if (lent === 'lent') {
    await lendInSlices(Number(seed), Number(count));
    return;
  }
  const { findings, alone, withAgent } = await hunt(Number(seed), Number(count));
  for (const finding of [...findings.values()].sort((left, right) => right.seeds.length - left.seeds.length))
    console.log(`${await describeFinding(finding)}\n`);
  console.log(`kubelet alone ${JSON.stringify(alone)}; with the agent ${JSON.stringify(withAgent)}`);
}

const SLICE = 250;
const SHAPES = [
  { seconds: 60, growth: 0.5 },
  { seconds: 30, growth: 1 },
  { seconds: 120, growth: 0.15 },
] as const;

async function lendInSlices(firstSeed: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += SLICE) {
    const shape = SHAPES[(done / SLICE) % SHAPES.length] ?? SHAPES[0];
    const slice = { seed: firstSeed + done, count: Math.min(SLICE, count - done), ...shape };
    console.log(
      JSON.stringify({ ...slice, ...(await lendRoom(slice.seed, slice.count, { ...shape, hasBudgets: false })) }),
    );
  }
}

await main(process.argv.slice(2));
