import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const NAMESPACES = ['shop', 'late', 'elsewhere'];
const PODS = 6;

/** The states that a pod of a name goes through, in any order: the watch may leave out any of them. */
const STATES: readonly Partial<WatchedPod>[] = [
  { gates: [GATE] },
  { gates: [GATE], labels: { [GATE]: 'other' }, priority: 1 },
  { admittedTo: 'of-shop' },
  { admittedTo: 'of-shop', node: 'node-0', phase: 'Running' },
  { admittedTo: 'other', node: 'node-0', phase: 'Running' },
  { node: 'node-0', phase: 'Running' },
  { admittedTo: 'of-shop', node: 'node-0', phase: 'Succeeded' },
];

interface Change {
  readonly pod: number;
  /** Of `STATES`; `undefined` where it is gone. */
  readonly state: number | undefined;
  readonly isPlanned: boolean;
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    pod: fc.nat(PODS - 1),
    state: fc.option(fc.nat(STATES.length - 1), { nil: undefined, freq: 6 }),
    isPlanned: fc.boolean(),
  }),
  { maxLength: 30 },
);

function openWorld() {
  const world = queueWorld([
    queueFor('shop', { guaranteed: { cpu: 2 } }),
    queueFor('late'),
    queueFor('shop', {}, 'other'),
  ]);
  world.manage('late', { team: 'late', 'plimsoll.dev/queues': 'managed' });
  return world;
}

function podOf({ pod, state = 0 }: Change): WatchedPod {
  return { name: `pod-${pod}`, namespace: NAMESPACES[pod % NAMESPACES.length] ?? '', createdAt: pod, ...STATES[state] };
}

/** What a plan decides, without what only says how. */
function factsOf(plan: QueuePlan) {
  const { directory, shares, total, question, letIn, seeking, held, released, homeless, occupied, allocation } = plan;
  const names = [letIn, seeking, held].map((pods) => pods.map(({ name }) => name));
  const others = [plan.unplaced, released, homeless.map(({ pod }) => pod)].map((pods) =>
    pods.map(({ uid }) => uid).sort(),
  );
  const deserved = directory.tree.queues.map((_, index) => deservedOf(shares, index));
  return {
    names,
    others,
    deserved,
    total,
    usage: question.usage,
    used: plan.used,
    allocation,
    occupied: [...occupied].sort(),
  };
}

test('what is kept between passes comes to the same as a cluster that is read afresh', () => {
  const holds = (steps: readonly Change[]): void => {
    const world = openWorld();
    const last = new Map<number, Change>();
    for (const step of steps) {
      last.delete(step.pod);
      if (step.state === undefined) world.gone(`pod-${step.pod}`);
      else {
        world.see(podOf(step));
        last.set(step.pod, step);
      }
      if (step.isPlanned) world.plan(true);
    }
    const fresh = openWorld();
    for (const step of last.values()) fresh.see(podOf(step));
    expect(factsOf(world.plan(true))).toEqual(factsOf(fresh.plan(true)));
  };
  fc.assert(fc.property(changes, holds), { seed: 28 });
});
