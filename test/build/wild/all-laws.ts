import { accountFaults } from './account-laws.ts';
import { claimFaults } from './claim-laws.ts';
import { commandFaults } from './command-laws.ts';
import { endlessFaults } from './end-laws.ts';
import { moveFaults } from './move-laws.ts';
import { preemptFaults } from './preempt-laws.ts';
import { pressureFaults } from './pressure-laws.ts';
import { queueFaults } from './queue-laws.ts';
import { wildCluster, type WildCluster } from './wild-cluster.ts';

/** What decisions about a wild cluster must not do; the text of each fault names the pod, the node or the queue. */
export const WILD_LAWS: Readonly<Record<string, (cluster: WildCluster, seed: number) => readonly string[]>> = {
  'queues and reclaim': queueFaults,
  'claims of tenants and nodes on queues': claimFaults,
  'what queues hold has an end': endlessFaults,
  'moves of the rescheduler': moveFaults,
  'answers to preemptions': preemptFaults,
  'evictions under pressure': pressureFaults,
  'answers of the command line': commandFaults,
  'accounts of removals': accountFaults,
};

const MAX_SHOWN = 5;

/** The faults of clusters of one seed after another, the first few with their seeds; a crash is one. */
export function faultsOfSeeds(law: keyof typeof WILD_LAWS, first: number, count: number): readonly string[] {
  const faults: string[] = [];
  for (let seed = first; seed < first + count && faults.length < MAX_SHOWN; seed += 1) {
    faults.push(...faultsOf(law, seed).map((fault) => `seed ${seed}: ${fault}`));
  }
  return faults.slice(0, MAX_SHOWN);
}

function faultsOf(law: keyof typeof WILD_LAWS, seed: number): readonly string[] {
  try {
    return WILD_LAWS[law]?.(wildCluster(seed), seed) ?? [`no law "${law}"`];
  } catch (error) {
    return [`crash: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}
