import { describeFinding, hunt } from './hunt.ts';
import { randomScenario } from './random-scenario.ts';
import { trace } from './trace.ts';

/**
 * `node test/agent/laws/main.ts SEED` prints one episode; with a number of episodes after the seed, what these broke, each
 * cause with a shrunk trace.
 */
async function main([seed = '1', count]: readonly string[]): Promise<void> {
  if (count === undefined) {
    console.log(await trace(randomScenario(Number(seed))));
    return;
  }
  const { findings, alone, withAgent } = await hunt(Number(seed), Number(count));
  for (const finding of [...findings.values()].sort((left, right) => right.seeds.length - left.seeds.length))
    console.log(`${await describeFinding(finding)}\n`);
  console.log(`kubelet alone ${JSON.stringify(alone)}; with the agent ${JSON.stringify(withAgent)}`);
}

await main(process.argv.slice(2));
