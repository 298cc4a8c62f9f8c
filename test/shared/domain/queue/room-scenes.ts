import fc from 'fast-check';
import { compareWaiting } from '#shared/domain/queue/let-in.ts';
import type { RoomNode, RoomState, Seeker } from '#shared/domain/queue/make-room.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { cpu, queue, running } from './builders.ts';
import { room, seeker, stateOf } from './rooms.ts';

const LEAVES = ['a', 'b', 'c.1', 'c.2'] as const;
const NODES = ['n1', 'n2', 'n3'] as const;
const BUDGETS = ['ns/one', 'ns/two'] as const;

const size = fc.nat(2).map((number) => number + 1);
const rarely = fc.nat(5).map((number) => number === 0);
/** Many queues have no guarantee, and many cannot fill theirs. */
const floor = fc.constantFrom(0, 0, 0, 2, 4, 8, 12);

interface DrawnPod {
  readonly pod: RunningPod;
  readonly node: string;
  readonly isLeaving: boolean;
}

const drawnPod = fc
  .record({
    of: fc.constantFrom(...LEAVES),
    mayBePreempted: rarely.map((isSpared) => !isSpared),
    application: fc.constantFrom('x', 'y', 'z'),
    budgets: fc.subarray([...BUDGETS]),
    requests: size.map(cpu),
    priority: fc.nat(2),
    node: fc.constantFrom(...NODES),
    isLeaving: rarely,
  })
  .map(({ of, node, isLeaving, ...rest }): DrawnPod => ({ pod: running('', of, rest), node, isLeaving }));

const drawnSeeker = fc
  .record({
    of: fc.constantFrom(...LEAVES),
    requests: size.map(cpu),
    isGated: fc.boolean(),
    nominatedTo: fc.option(fc.constantFrom(...NODES), { nil: undefined, freq: 2 }),
    priority: fc.constantFrom(1, 2, 2),
  })
  .map(({ of, isGated, nominatedTo, ...rest }) => seeker('', of, rest, { isGated, nominatedTo }));

/** A cluster and the pods that seek room in it, the most important first. */
export interface Scene {
  readonly state: RoomState;
  readonly seekers: readonly Seeker[];
}

/** Two queues, two more below a third, three nodes, and pods that run there, leave, or seek room. */
export const scenes: fc.Arbitrary<Scene> = fc
  .record({
    floors: fc.array(floor, { minLength: 5, maxLength: 5 }),
    pods: fc.array(drawnPod, { minLength: 4, maxLength: 12 }),
    sought: fc.array(drawnSeeker, { minLength: 1, maxLength: 5 }),
    spare: fc.array(fc.constantFrom(0, 0, 1), { minLength: 3, maxLength: 3 }),
    allowed: fc.array(fc.nat(4), { minLength: 2, maxLength: 2 }),
  })
  .map(({ floors, pods, sought, spare, allowed }) => {
    const named = pods.map((each, index) => ({ ...each, pod: { ...each.pod, uid: `v${index}`, name: `v${index}` } }));
    const seekers = inOrder(sought);
    const nodes = NODES.map((name, index) => nodeOf(name, named, seekers, spare[index] ?? 0));
    const unplaced = seekers.filter(({ isGated }) => !isGated).map(({ pod }) => pod);
    const budgets = new Map(BUDGETS.map((name, index) => [name, allowed[index] ?? 0]));
    return { state: { ...stateOf(queuesOf(floors), nodes, unplaced), budgets }, seekers };
  });

function queuesOf(floors: readonly number[]) {
  return [...LEAVES, 'c'].map((name, index) => {
    return queue(name, name.startsWith('c.') ? 'c' : undefined, { guaranteed: cpu(floors[index] ?? 0) });
  });
}

function inOrder(sought: readonly Seeker[]): readonly Seeker[] {
  return sought
    .map((each, index) => ({ ...each, pod: { ...each.pod, uid: `p${index}`, name: `p${index}` } }))
    .sort((a, b) => compareWaiting(a.pod, b.pod));
}

function nodeOf(name: string, pods: readonly DrawnPod[], seekers: readonly Seeker[], spare: number): RoomNode {
  const here = pods.filter(({ node }) => node === name);
  const podsThat = (leave: boolean) => here.filter(({ isLeaving }) => isLeaving === leave).map(({ pod }) => pod);
  const capacity = here.reduce((sum, { pod }) => sum + Number(pod.requests.get('cpu')), spare);
  const promised = seekers.filter(({ nominatedTo }) => nominatedTo === name).map(({ pod }) => pod);
  return room(name, cpu(capacity), podsThat(false), { leaving: podsThat(true), promised });
}
