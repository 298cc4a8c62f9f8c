/**
 * What spare room costs an agent: two agents on the same node side by side, so that the load of the machine meets both
 * alike; one of them measures and lends. CPU and memory over four minutes, JSON on stdout. SECONDS=n measures for
 * longer or shorter, PODS=n another number of pods.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadavg } from 'node:os';
import { rounded } from '#bench/shared/support/quantile.ts';
import { type AgentProcess, startAgent, warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups } from '#test/agent/pod-groups.ts';
import { type Footprint, footprintOf } from '#test/agent/process-footprint.ts';
import { environment } from './support/environment.ts';
import { everydayPod } from './support/everyday-pod.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 240);
const PODS = Number(process.env['PODS'] ?? 110);
const SETTLE_MS = 60_000;
const MIBS_OF_NODE = 32_768;

/** Never crossed here. */
const OFF = { mode: 'Enforce', evictionHard: { 'memory.available': '250Mi' } };
const ON = { ...OFF, spare: { mode: 'Enforce' } };
const amounts = { cpu: '8', memory: `${MIBS_OF_NODE}Mi` };
const NODE = {
  metadata: { name: 'n1', uid: 'uid-n1' },
  status: { capacity: amounts, allocatable: amounts, conditions: [] },
};

interface Cost {
  readonly millicores: number;
  /** Mean of the samples, one a second. */
  readonly privateMiB: number;
}

async function costOf({ child: { pid = 0 } }: AgentProcess): Promise<Cost> {
  const samples: Footprint[] = [footprintOf(pid)];
  for (let second = 0; second < SECONDS; second += 1) {
    await sleep(1_000);
    samples.push(footprintOf(pid));
  }
  const cpuSeconds = (samples.at(-1)?.cpuSeconds ?? NaN) - (samples[0]?.cpuSeconds ?? NaN);
  const privateMiB = samples.reduce((sum, each) => sum + each.privateMiB, 0) / samples.length;
  return { millicores: rounded((cpuSeconds / SECONDS) * 1_000, 2), privateMiB: rounded(privateMiB, 2) };
}

/** Whether the agent reports spare room: otherwise nothing was measured. */
async function reportsSpare({ url }: AgentProcess): Promise<boolean> {
  return (await (await fetch(`${url}/metrics`)).text()).includes('plimsoll_spare_room{');
}

await warmCompileCache();
const groups = createPodGroups(PODS);
const pods = groups.uids.map((uid) => everydayPod(uid, 0));
const start = (policy: object): Promise<AgentProcess> =>
  startAgent(pods, [`--path-kubepods=${groups.kubepods}`], policy, undefined, [['/api/v1/nodes', NODE]]);
const agents = [await start(OFF), await start(ON)] as const;
try {
  await sleep(SETTLE_MS);
  const [off, on] = await Promise.all([costOf(agents[0]), costOf(agents[1])]);
  const measured = { off: await reportsSpare(agents[0]), on: await reportsSpare(agents[1]) };
  const more = {
    millicores: rounded(on.millicores - off.millicores, 2),
    privateMiB: rounded(on.privateMiB - off.privateMiB, 2),
    timesCpu: rounded(on.millicores / off.millicores, 3),
  };
  const load = rounded(loadavg()[0] ?? NaN, 1);
  const document = {
    benchmark: 'agent-spare',
    seconds: SECONDS,
    pods: PODS,
    ...environment(),
    load,
    measured,
    off,
    on,
    more,
  };
  console.log(JSON.stringify(document, null, 2));
} finally {
  await Promise.all(agents.map((agent) => agent.stop()));
  groups.remove();
}
