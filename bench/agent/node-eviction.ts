/**
 * The agent and the kubelet on one real node, which is this machine: a pod takes memory at the same ramp, in turn for
 * each of the two, and each has the same threshold. Measured: threshold crossed → request at the API server (audit log).
 * JSON on stdout; RUNS (5) of each. Needs root and what test:cluster needs.
 */
import { loadavg } from 'node:os';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { agentAgeMs, installAgent } from '#test/cluster/node/agent-on-node.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import { type NodeOfOurs, startNodeOf } from '#test/cluster/node/start/start-node-of.ts';
import { NODE_NAME } from '#test/cluster/node/node-place.ts';
import { makePod, podPath } from '#test/cluster/node/make-pod.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { environment } from './support/environment.ts';
import { availableMemory, type AvailableMemory } from './node/available-memory.ts';
import { firstRequest } from './node/first-request.ts';
import { eventually } from '#test/build/waiting.ts';

const RUNS = Number(process.env['RUNS'] ?? 5);
const MEBIBYTE = 1_048_576;
const MARGIN = 600 * MEBIBYTE;
const HOG = { mebibytes: 1_500, mebibytesPerSecond: 300 };
const WARM_UP_MS = 35_000;
const NEVER = MEBIBYTE;
const SIGNAL = 'memory.available';
const POLICY = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies/race';
const LIMITS = { concurrent: 1, perMinute: 100, perTenMinutes: 100, perNamespacePerTenMinutes: 100 };

interface Racer {
  readonly name: 'agent' | 'kubelet';
  /** Makes only this component evict below this many bytes. */
  readonly arm: (bytes: number) => Promise<void>;
  /** The words of its request about a pod in the audit log. */
  readonly words: (pod: string) => readonly string[];
}

/** Milliseconds of each run. */
type Delays = Readonly<Record<Racer['name'], number[]>>;

interface Track {
  readonly node: NodeOfOurs;
  readonly client: KubeClient;
  readonly memory: AvailableMemory;
}

async function measure(node: NodeOfOurs, client: KubeClient): Promise<Delays> {
  await installAgent(node, client);
  await eventually(async () => {
    if ((await agentAgeMs(client)) < WARM_UP_MS) throw new Error('the agent has just started');
  }, 120_000);
  const track = { node, client, memory: availableMemory(node.kubepods) };
  const delays: Delays = { agent: [], kubelet: [] };
  for (let run = 0; run < RUNS; run += 1) {
    for (const racer of racers(node, client)) delays[racer.name].push(await race(racer, run, track));
  }
  return delays;
}

function racers(node: NodeOfOurs, client: KubeClient): readonly Racer[] {
  const tellAgent = (mode: string, bytes: number): Promise<unknown> => {
    const spec = {
      mode,
      // The crossing is measured by the kubelet's figure; on a machine with much cache the other figure is higher.
      memoryFigure: 'Kubelet',
      evictionHard: { [SIGNAL]: String(bytes) },
      evictionPressureTransitionPeriod: '1s',
      limits: LIMITS,
    };
    const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressurePolicy', metadata: { name: 'race' }, spec };
    const query = { fieldManager: 'plimsoll-bench', force: true };
    return call(client, { method: 'PATCH', path: POLICY, query, contentType: 'application/apply-patch+yaml', body });
  };
  const tellKubelet = (bytes: number): Promise<void> =>
    node.configureKubelet({ evictionHard: { [SIGNAL]: String(bytes) } });
  const agent: Racer = {
    name: 'agent',
    arm: async (bytes) => {
      await tellKubelet(NEVER);
      await tellAgent('Enforce', bytes);
    },
    words: (pod) => ['"subresource":"eviction"', `"name":"${pod}"`],
  };
  const kubelet: Racer = {
    name: 'kubelet',
    arm: async (bytes) => {
      await tellAgent('DryRun', NEVER);
      await tellKubelet(bytes);
    },
    words: (pod) => [`"username":"system:node:${NODE_NAME}"`, `"name":"${pod}"`, 'TerminationByKubelet'],
  };
  return [agent, kubelet];
}

/** Milliseconds from the crossing to the request. */
async function race({ name, arm, words }: Racer, run: number, { node, client, memory }: Track): Promise<number> {
  const pod = `${name}-${run}`;
  const threshold = memory.read() - MARGIN;
  await arm(threshold);
  const crossed = memory.crossing(threshold);
  await makePod(client, { name: pod, ...HOG });
  const from = await crossed;
  const to = await firstRequest(node.auditLog, words(pod));
  await client.request({ method: 'DELETE', path: podPath({ name: pod }) });
  await eventually(async () => {
    const { kind } = await client.request({ path: podPath({ name: pod }) });
    if (kind !== 'notFound') throw new Error(`pod ${pod} is still there`);
  }, 60_000);
  return to - from;
}

const before = environment();
const node = await startNodeOf('native');
const client = createClient(await kubeconfigConnection(node.kubeconfig), { userAgent: 'plimsoll-bench' });
try {
  const delaysMs = await measure(node, client);
  const middle = { agent: quantile(delaysMs.agent, 0.5), kubelet: quantile(delaysMs.kubelet, 0.5) };
  const result = { delaysMs, p50Ms: middle, timesEarlier: rounded(middle.kubelet / middle.agent), target: 30 };
  console.log(
    JSON.stringify({ benchmark: 'node-eviction', ...before, loadAfter: loadavg(), hog: HOG, ...result }, null, 2),
  );
} finally {
  client.close();
  await node.close();
}
