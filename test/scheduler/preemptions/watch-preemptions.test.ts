import { expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { createSnapshot, putBudget } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod, removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { loopsSchema, createPreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { watchPreemptions } from '#scheduler/preemptions/watch-preemptions.ts';
import { buildBudget, buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];

function opened() {
  const clock = manualClock();
  const metrics = createMetrics('test');
  const warned: unknown[] = [];
  const log = { info: () => undefined, warn: (facts: object) => void warned.push(facts) };
  const loops = createPreemptionLoops(loopsSchema.parse({ mode: 'Enforce', rounds: 2 }), clock);
  const observe = watchPreemptions({ loops, log: log as never, metrics });
  const snapshot = createSnapshot({ nodes: [buildNode({ name: 'n1' })], pods: [] });
  return { clock, metrics, warned, loops, snapshot, show: (fields: PodFields) => show(snapshot, observe, fields) };
}

function show(snapshot: ClusterSnapshot, observe: ReturnType<typeof watchPreemptions>, fields: PodFields): Pod {
  const pod = buildPod(fields);
  const previous = snapshot.placedPods.get(pod.uid);
  putPod(snapshot, pod);
  observe(
    { pod, previous, raw: { metadata: {}, status: { reason: fields.phase === 'Failed' ? 'OutOfcpu' : '' } } },
    snapshot,
  );
  return pod;
}

test.each([
  ['before its victim is seen', true],
  ['after it', false],
])('two owners that preempt each other are a loop, with the preemptor nominated %s (S0-21)', (_, isEarly) => {
  const { loops, snapshot, show: see } = opened();
  for (const [preemptor, victim, priority] of [
    ['a', 'b', 1],
    ['b', 'a', 2],
  ] as const) {
    see({ name: victim, node: 'n1', priority });
    const nominate = () => see({ name: preemptor, nominatedTo: 'n1', priority: priority + 1 });
    if (isEarly) nominate();
    const gone = see({ name: victim, node: 'n1', priority, conditions });
    if (!isEarly) nominate();
    removePod(snapshot, gone);
  }
  const [a, b] = ['a', 'b'].map((name) => buildPod({ name })) as [Pod, Pod];
  expect(loops.between(b, a)?.facts).toMatchObject({ preemptor: 'default/Pod/a', victim: 'default/Pod/b', rounds: 2 });
});

test('a victim whose preemptor is nominated too late counts for no pair', async () => {
  const { clock, loops, show: see } = opened();
  for (const priority of [1, 2]) {
    see({ name: 'b', node: 'n1', priority });
    see({ name: 'b', node: 'n1', priority, conditions });
    await clock.advance(10_001);
    see({ name: 'a', nominatedTo: 'n1', priority: 5 });
  }
  expect(loops.isAny()).toBe(false);
});

test('each preemption that breaches a spent disruption budget is counted and logged (S1-17)', async () => {
  const { metrics, snapshot, warned, show: see } = opened();
  const labels = { app: 'db' };
  putBudget(snapshot, buildBudget('db', labels, 1));
  const victims = ['db-0', 'db-1'].map((name) => ({ name, node: 'n1', labels }));
  for (const victim of [...victims, { name: 'web', node: 'n1' }]) see(victim);
  for (const victim of [...victims, { name: 'web', node: 'n1' }]) see({ ...victim, conditions });
  expect(await metrics.text()).toContain('preempted_pods_total{budget="Kept"} 2');
  expect(await metrics.text()).toContain('preempted_pods_total{budget="Breached"} 1');
  expect(warned).toEqual([{ pod: 'default/db-1', node: 'n1', budgets: ['default/db'] }]);
});

test('what a victim used up is forgotten with the next status of the budget', async () => {
  const { metrics, snapshot, show: see } = opened();
  const labels = { app: 'db' };
  for (const name of ['db-0', 'db-1']) {
    putBudget(snapshot, buildBudget('db', labels, 1));
    see({ name, node: 'n1', labels });
    see({ name, node: 'n1', labels, conditions });
  }
  expect(await metrics.text()).toContain('preempted_pods_total{budget="Kept"} 2');
  expect(await metrics.text()).toContain('preempted_pods_total{budget="Breached"} 0');
});

test('a pod that a kubelet refuses is counted by its reason, and nothing else (S0-20)', async () => {
  const { metrics, loops, show: see } = opened();
  see({ name: 'late', node: 'n1', phase: 'Pending' });
  see({ name: 'late', node: 'n1', phase: 'Failed' });
  see({ name: 'late', node: 'n1', phase: 'Failed' });
  expect(await metrics.text()).toContain('refused_pods_total{reason="OutOfcpu"} 1');
  expect(await metrics.text()).toContain('preempted_pods_total{budget="Kept"} 0');
  expect(loops.isAny()).toBe(false);
});
