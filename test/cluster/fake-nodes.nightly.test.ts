import { describe, expect, test } from 'vitest';
import { at, pod } from '#test/contract/harness.ts';
import { countReadyNodes, makeFakeNodes } from './support/fake-nodes.ts';
import { inFlight } from './support/in-flight.ts';
import { ownCluster, whyNoOwnCluster } from './support/control-plane/own-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const COUNT = 500;
const AT_ONCE = 32;
const PODS = '/api/v1/namespaces/default/pods';
/** Of the 8 that a node has: one such pod fits on a node, and not two. */
const LARGE = { requests: { cpu: '5' } };

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`fake nodes${why ?? ''}`, () => {
  const own = ownCluster();

  test(`${COUNT} of them become Ready, and the scheduler may use them`, async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'node', COUNT);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(COUNT), 45_000);
  });

  test(`the scheduler binds ${COUNT} large pods, each to a node of its own, and one more to none`, async () => {
    const { admin } = own();
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: LARGE }];
    const names = Array.from({ length: COUNT + 1 }, (_, index) => `pod-${index}`);
    await inFlight(AT_ONCE, names, async (name) => {
      const body = pod(name, { schedulerName: 'default-scheduler', containers });
      expect(await admin.request({ method: 'POST', path: PODS, body })).toMatchObject({ kind: 'ok' });
    });
    const seen = async (): Promise<readonly unknown[]> => {
      const listed = await admin.request({ path: PODS });
      return at(listed, 'object.items') as readonly unknown[];
    };
    await eventually(async () => {
      const pods = await seen();
      const nodes = pods.flatMap((each) => at(each, 'spec.nodeName') ?? []);
      expect([nodes.length, new Set(nodes).size]).toEqual([COUNT, COUNT]);
      const [waiting] = pods.filter((each) => at(each, 'spec.nodeName') === undefined);
      expect(at(waiting, 'status.conditions.0.message')).toMatch(
        new RegExp(`^0/${COUNT} nodes are available: ${COUNT} Insufficient cpu`),
      );
    }, 60_000);
  }, 120_000);
});
