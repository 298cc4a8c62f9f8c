import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod } from '#test/contract/harness.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { expectedOf, PRIORITIES, randomScenario, type Scenario } from './random-scenario.ts';
import { eventually } from '#test/build/waiting.ts';

const SCENARIOS = Number(process.env['PLIMSOLL_SCENARIOS'] ?? 500);
const SEED = Number(process.env['PLIMSOLL_SCENARIO_SEED'] ?? 15);
const BATCH = 50;
const MOST_NODES = 3;
const AT_ONCE = 32;
const PATIENCE_MS = 60_000;
const TIMEOUT_MS = 300_000;
const PODS = '/api/v1/namespaces/default/pods';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const NEVER = { 'plimsoll.dev/allow-preemption': 'false' };
const why = whyNoOwnCluster(process.env);

/** What the cluster shows of a pod. */
interface SeenPod {
  readonly name: string;
  readonly node: string | undefined;
}

describe.skipIf(why !== undefined)(`random preemptions by kube-scheduler with the extender${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '5s' }] } };
  });

  beforeAll(async () => {
    const { admin, cluster } = own();
    await makeFakeNodes(admin, 'node', BATCH * MOST_NODES);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(BATCH * MOST_NODES), PATIENCE_MS);
    const priorities = [...Array.from({ length: PRIORITIES }, (_, value) => value), 100];
    await inFlight(AT_ONCE, priorities, async (value) => {
      await create(CLASSES, { metadata: { name: classOf(value, false) }, value });
      await create(CLASSES, { metadata: { name: classOf(value, true), annotations: NEVER }, value });
    });
    extender = await startSchedulerProcess(cluster.kubeconfig, port);
  }, 180_000);
  afterAll(() => extender.stop());

  async function create(path: string, body: object): Promise<void> {
    expect(await own().admin.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
  }

  async function remove(names: readonly string[]): Promise<void> {
    await inFlight(AT_ONCE, names, (name) => own().admin.request({ method: 'DELETE', path: `${PODS}/${name}` }));
  }

  async function seenPods(): Promise<readonly SeenPod[]> {
    const listed = await own().admin.request({ path: PODS });
    const nodeOf = (each: unknown) => at(each, 'spec.nodeName') as string | undefined;
    const items = at(listed, 'object.items') as readonly unknown[];
    return items.map((each) => ({ name: String(at(each, 'metadata.name')), node: nodeOf(each) }));
  }

  /** Pods that are on nodes already; then, all at once, those that want to come. */
  async function play(scenarios: readonly Scenario[]): Promise<void> {
    await inFlight(
      AT_ONCE,
      scenarios.flatMap(({ pods }) => pods),
      ({ name, node, priority, isProtected, cpu }) =>
        create(PODS, scenarioPod(name, classOf(priority, isProtected), cpu, { nodeName: node })),
    );
    await inFlight(AT_ONCE, scenarios, ({ nodes, incoming: { name, priority, cpu } }) =>
      create(PODS, scenarioPod(name, classOf(priority, false), cpu, { affinity: only(nodes) })),
    );
  }

  /** What is wrong with a scenario, or not there yet. */
  function differenceOf(scenario: Scenario, seen: readonly SeenPod[], waiting: ReadonlySet<string>): unknown {
    const { nodes, victims } = expectedOf(scenario);
    const name = scenario.incoming.name;
    const node = seen.find((each) => each.name === name)?.node;
    const left = new Set(seen.map((each) => each.name));
    const gone = scenario.pods
      .filter((each) => !left.has(each.name))
      .map((each) => each.name)
      .sort();
    if (nodes.length === 0)
      return node === undefined && gone.length === 0 && waiting.has(name)
        ? undefined
        : { name, node, gone, expected: 'to wait' };
    const isExpected = node !== undefined && nodes.includes(node) && String(gone) === String(victims.get(node) ?? []);
    return isExpected ? undefined : { name, node, gone, nodes, victims: Object.fromEntries(victims) };
  }

  async function waitingPods(): Promise<ReadonlySet<string>> {
    const listed = await own().admin.request({ path: PODS });
    const items = at(listed, 'object.items') as readonly unknown[];
    const isWaiting = (each: unknown) => at(each, 'status.conditions.0.reason') === 'Unschedulable';
    return new Set(items.filter(isWaiting).map((each) => String(at(each, 'metadata.name'))));
  }

  async function runBatch(first: number, share: number, seed: number): Promise<number> {
    const scenarios = Array.from({ length: BATCH }, (_, index) => {
      const random = randomSource(seed + first + index);
      const count = 1 + random.below(MOST_NODES);
      const nodes = Array.from({ length: count }, (_, node) => `node-${index * MOST_NODES + node}`);
      return randomScenario(`s${first + index}`, nodes, share, random);
    });
    await play(scenarios);
    await eventually(async () => {
      const [seen, waiting] = [await seenPods(), await waitingPods()];
      const differences = scenarios
        .map((each) => differenceOf(each, seen, waiting))
        .filter((each) => each !== undefined);
      expect(differences).toEqual([]);
    }, PATIENCE_MS);
    const preempted = scenarios.filter((each) => expectedOf(each).victims.size > 0).length;
    await remove((await seenPods()).map(({ name }) => name));
    await eventually(async () => expect(await seenPods()).toEqual([]), PATIENCE_MS);
    return preempted;
  }

  /** Half of all scenarios, a batch at a time. */
  async function runHalf(share: number, seed: number): Promise<void> {
    console.log(`random preemptions: PLIMSOLL_SCENARIO_SEED=${SEED}`);
    let preempted = 0;
    for (let first = 0; first < SCENARIOS / 2; first += BATCH) preempted += await runBatch(first, share, seed);
    expect(preempted).toBeGreaterThan(SCENARIOS / 10);
  }

  test(
    'where nothing is protected nodes and victims are those of kube-scheduler alone',
    () => runHalf(0, SEED),
    TIMEOUT_MS,
  );

  test(
    'where a third is protected none of these goes, and all else is as kube-scheduler would do it',
    () => runHalf(1 / 3, SEED + SCENARIOS),
    TIMEOUT_MS,
  );
});

function classOf(priority: number, isProtected: boolean): string {
  return `${isProtected ? 'stays' : 'goes'}-${priority}`;
}

function scenarioPod(name: string, priorityClassName: string, cpu: number, more: object): object {
  const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: String(cpu) } } }];
  return pod(name, { schedulerName: 'default-scheduler', priorityClassName, containers, ...more });
}

/** The nodes of one scenario are its own. */
function only(nodes: readonly string[]): object {
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: nodes }];
  const nodeSelectorTerms = [{ matchExpressions }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}
