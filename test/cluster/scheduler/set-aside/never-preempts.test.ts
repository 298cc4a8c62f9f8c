import { beforeAll, describe, expect, test } from 'vitest';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { seedStage } from '#test/cluster/scheduler/seed-stage.ts';
import { eventually } from '#test/build/waiting.ts';
import { OURS, secondWithExtender } from './second-with-extender.ts';

const BACKED_OFF = /scheduler_queue_incoming_pods_total\{event="AssignedPodDelete",queue="backoff"\} (?<count>\d+)/;
const PATIENCE_MS = 60_000;
const GIVEN = {
  nodes: [{ name: 'a', capacity: 10 }],
  running: [{ name: 'low', node: 'a', priority: 1, request: 10 }],
};
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`a pod that never preempts, alone with its kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const second = secondWithExtender(own);
  let ends = 0;

  beforeAll(async () => {
    const stage = seedStage(own(), 's1-9', GIVEN);
    await stage.build();
    await eventually(async () => expect(await countReadyNodes(own().admin)).toBe(1), PATIENCE_MS);
    await seedStage(own(), 's1-9', GIVEN, OURS).create({
      name: 'patient',
      priority: 1_000,
      request: 10,
      preemptionPolicy: 'Never',
    });
  }, 120_000);

  /** A reason for kube-scheduler to try waiting pods again. */
  async function endAnother(): Promise<void> {
    const stage = seedStage(own(), 's1-9', GIVEN);
    const name = `ending-${(ends += 1)}`;
    await stage.create({ name, node: 'a', priority: 1, request: 1 });
    await stage.end(name);
  }

  test('S1-9: waits out its back-off after an attempt, and no pod is removed for it', async () => {
    await eventually(async () => {
      await endAnother();
      expect(Number(BACKED_OFF.exec(await second().metrics())?.groups?.['count'])).toBeGreaterThan(0);
    }, PATIENCE_MS);
    const { seen } = seedStage(own(), 's1-9', GIVEN);
    expect(await seen()).toMatchObject({ terminating: [], nominated: {}, pending: ['patient'] });
  }, 120_000);
});
