import { beforeAll, expect, test } from 'vitest';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
/** Of all pods that `create` makes. */
export const LABELS = { app: 'scenario' };
/** Of the 8 that a node has: one such pod fits on a node, and not two. */
const LARGE = { requests: { cpu: '5' } };
export const PATIENCE_MS = 30_000;

/** Pods that a scheduler places on two nodes with room for one each. */
export interface PreemptionScenario {
  readonly createClass: (name: string, value: number, annotations?: object) => Promise<void>;
  readonly create: (name: string, priorityClassName: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** Lets a pod end on a node, which is a reason for kube-scheduler to look at waiting pods again. */
  readonly poke: (name: string) => Promise<void>;
  /** Names of the pods that are on a node, sorted. */
  readonly placed: () => Promise<readonly string[]>;
  /** Pokes until the pods on nodes are these, sorted. */
  readonly pokedUntilPlaced: (names: readonly string[], patienceMs: number) => Promise<void>;
}

/**
 * Registers tests of the present `describe`: of two victims the scheduler takes the one that did not opt out, although
 * its priority is higher, and none where only the other is left. They leave `important` and `opted-out` on the nodes.
 */
export function preemptionScenario(own: () => OwnCluster, schedulerName: string): PreemptionScenario {
  async function create(name: string, priorityClassName: string): Promise<void> {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: LARGE }];
    const terminationGracePeriodSeconds = 0;
    const body = pod(
      name,
      { schedulerName, priorityClassName, containers, terminationGracePeriodSeconds },
      { labels: LABELS },
    );
    // Admission learns of a new class a moment later.
    await eventually(async () => {
      expect(await own().admin.request({ method: 'POST', path: PODS, body })).toMatchObject({ kind: 'ok' });
    });
  }

  async function createClass(name: string, value: number, annotations: object = {}): Promise<void> {
    const body = { metadata: { name, annotations }, value };
    expect(await own().admin.request({ method: 'POST', path: CLASSES, body })).toMatchObject({ kind: 'ok' });
  }

  async function placed(): Promise<readonly string[]> {
    const listed = await own().admin.request({ path: PODS });
    const pods = at(listed, 'object.items') as readonly unknown[];
    const onNodes = pods.filter((each) => at(each, 'spec.nodeName') !== undefined);
    return onNodes.map((each) => String(at(each, 'metadata.name'))).sort();
  }

  const becomesPlaced = (...names: readonly string[]): Promise<void> =>
    eventually(async () => expect(await placed()).toEqual(names), PATIENCE_MS);

  beforeAll(async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
    await createClass('spared', 5, { 'plimsoll.dev/allow-preemption': 'false' });
    await createClass('low', 10);
    await createClass('high', 1_000);
  });

  test('takes the pod that may go, although the scheduler would have taken the one that opted out', async () => {
    await create('opted-out', 'spared');
    await becomesPlaced('opted-out');
    await create('ordinary', 'low');
    await becomesPlaced('opted-out', 'ordinary');
    await create('important', 'high');
    await becomesPlaced('important', 'opted-out');
  }, 120_000);

  test('takes no pod where only protected ones are left', async () => {
    await create('waiting', 'low');
    await eventually(async () => {
      const found = await own().admin.request({ path: `${PODS}/waiting` });
      expect(at(found, 'object.status.conditions.0.message')).toMatch(/^0\/2 nodes are available: 2 Insufficient cpu/);
    }, PATIENCE_MS);
    expect(await placed()).toEqual(['important', 'opted-out']);
  }, 60_000);

  const remove = async (name: string): Promise<void> => {
    await own().admin.request({ method: 'DELETE', path: `${PODS}/${name}` });
  };
  const poke = async (name: string): Promise<void> => {
    const body = pod(name, { nodeName: 'node-0' });
    expect(await own().admin.request({ method: 'POST', path: PODS, body })).toMatchObject({ kind: 'ok' });
    await remove(name);
  };
  const pokedUntilPlaced = (names: readonly string[], patienceMs: number): Promise<void> => {
    let pokes = 0;
    return eventually(async () => {
      await poke(`poke-${names.join('-')}-${(pokes += 1)}`);
      expect(await placed()).toEqual(names);
    }, patienceMs);
  };
  return { createClass, create, remove, poke, placed, pokedUntilPlaced };
}
