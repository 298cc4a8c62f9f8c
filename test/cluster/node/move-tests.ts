import { expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import {
  avoidedOn,
  createPolicy,
  deletePolicy,
  KEPT,
  makeRefusedPods,
  makeSpareNode,
  nodesOfReplicas,
  policyStatus,
  releaseReplicas,
  reportedUse,
  reportSpareNode,
  STALLED,
} from './moves-on-node.ts';
import { NODE_NAME } from './node-place.ts';

const NODE_POLICY = `/apis/plimsoll.dev/v1alpha1/nodepressurepolicies/${NODE_NAME}`;
/** Pods are moved five minutes after their start, and by usage after three passes. */
const MOVED_WITHIN_SECONDS = 400;
const STALLED_WITHIN_SECONDS = 150;
const MOVE_TIMEOUT_MS = 500_000;

/** The node on which the replicas are kept, and for how long its tests wait. */
export interface MoveScene {
  readonly client: () => KubeClient;
  readonly within: <T>(seconds: number, expectation: () => Promise<T>) => Promise<T>;
  readonly patience: number;
}

/** What the rescheduler does by what a real kubelet refuses, on a node that is short of nothing. */
export function refusalTest({ client, within }: MoveScene): void {
  test('has a kubelet that refuses pods, and the rescheduler keeps their owner away for an hour (S3-4)', async () => {
    await makeRefusedPods(client());
    await createPolicy(client(), 'refused', { badService: { refused: 3 } });
    const text = `the kubelet of node ${NODE_NAME} refused 3 of its pods within an hour (limit 3): OutOfcpu`;
    await within(90, async () =>
      expect(await policyStatus(client(), 'refused')).toMatchObject({
        keptAway: [{ owner: 'default/Job/refused', node: NODE_NAME, text }],
      }),
    );
    const [[owner, forMs] = ['', 0]] = await within(10, () => avoidedOn(client(), NODE_NAME));
    expect(owner).toBe('Job/refused');
    expect(forMs / HOUR_MS).toBeCloseTo(1, 1);
    await deletePolicy(client(), 'refused');
  });
}

/** What it does by what a real agent measures, once the replicas that are kept have run for some minutes. */
export function usageTest({ client, within, patience }: MoveScene): void {
  test(
    'gives a pod away by the use that its agent reports (S3-40)',
    async () => {
      // Without one the agent evicts no pod, and names all of them.
      await client().request({ method: 'DELETE', path: NODE_POLICY });
      await makeSpareNode(client());
      await releaseReplicas(client(), KEPT);
      expect(await nodesOfReplicas(client(), KEPT)).toEqual([NODE_NAME, NODE_NAME]);
      // Low enough for any machine: what its other programs use is above it all the time.
      const underused = { by: 'Usage', low: { memory: 1 }, target: { memory: 2 }, gain: '0.01' };
      await createPolicy(client(), 'even', { underused });
      await within(MOVED_WITHIN_SECONDS, async () => {
        await reportSpareNode(client());
        expect(await nodesOfReplicas(client(), KEPT)).toEqual([NODE_NAME, 'spare-0']);
      });
      const text = textAt(await policyStatus(client(), 'even'), 'evicted.0.because');
      const [, percent] = new RegExp(`^node ${NODE_NAME} is at ([0-9.]+)% of memory by usage, above`).exec(text) ?? [];
      expect(Math.abs(Number(percent) - (await reportedUse(client())))).toBeLessThan(10);
      await deletePolicy(client(), 'even');
    },
    MOVE_TIMEOUT_MS * patience,
  );
}

/** What it does by how long pods wait, where the kernel measures that; after the test of usage. */
export function stallTest({ client, within, patience }: MoveScene): void {
  test(
    'gives a pod away that waits for a processor most of the time (S3-4)',
    async () => {
      await releaseReplicas(client(), STALLED);
      expect(await nodesOfReplicas(client(), STALLED)).toEqual([NODE_NAME, NODE_NAME]);
      await createPolicy(client(), 'stalled', { badService: { stalls: 40 } });
      await within(STALLED_WITHIN_SECONDS, async () => {
        await reportSpareNode(client());
        expect(await nodesOfReplicas(client(), STALLED)).toEqual([NODE_NAME, 'spare-0']);
      });
      const { code, because } = at(await policyStatus(client(), 'stalled'), 'evicted.0') as Record<string, string>;
      expect(code).toBe('BadServiceVictim');
      expect(because).toMatch(new RegExp(`^victim on node ${NODE_NAME}: the pod waits for cpu \\d+% of the time`));
      const kept = await avoidedOn(client(), NODE_NAME);
      expect(kept.map(([owner]) => owner)).toContain(`ReplicaSet/${STALLED.app}`);
      await deletePolicy(client(), 'stalled');
    },
    MOVE_TIMEOUT_MS * patience,
  );
}
