import { finish } from '#shared/domain/base/steps.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import {
  makeRoomInSteps,
  type Promised,
  type RoomNode,
  type RoomState,
  type RoomStep,
  type Seeker,
  type SeekerStep,
} from '#shared/domain/queue/make-room.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { addAmounts } from '#shared/domain/queue/usage.ts';
import { node, ownUsage, waiting } from './builders.ts';

interface Others {
  readonly leaving?: readonly RunningPod[];
  readonly promised?: readonly Promised[];
}

/** A node with these pods, those that leave it, and what they leave of its capacity. */
export function room(
  name: string,
  capacity: QueueAmounts,
  pods: readonly RunningPod[] = [],
  { leaving = [], promised = [] }: Others = {},
): RoomNode {
  const held = new Map<string, Whole>();
  for (const { requests } of leaving) addAmounts(held, requests);
  return { ...node(name, capacity, pods), leaving: held, leavingPods: leaving, promised };
}

/** What these nodes come to; pods that were let in and have no node count for their queues as well. */
export function stateOf(
  queues: readonly Queue[],
  nodes: readonly RoomNode[],
  unplaced: readonly WaitingPod[] = [],
): RoomState {
  const own = ownUsage([...nodes.flatMap(({ pods }) => pods), ...unplaced]);
  return { tree: createQueueTree(queues), own, sought: new Map(), nodes, budgets: new Map() };
}

/** A pod behind its gate that seeks room. */
export function seeker(name: string, queue: string, pod: Partial<WaitingPod> = {}, more: Partial<Seeker> = {}): Seeker {
  return { pod: waiting(name, queue, pod), isGated: true, nominatedTo: undefined, ...more };
}

/** What is found for each of them at time 0. */
export function makeRoom(state: RoomState, seekers: readonly Seeker[]): readonly SeekerStep[] {
  return finish(makeRoomInSteps(state, seekers, 0));
}

/** What is found for one. */
export function roomFor(state: RoomState, only: Seeker): RoomStep {
  const [found] = makeRoom(state, [only]);
  if (found === undefined) throw new Error('nothing was found for the pod');
  return found.step;
}

export function victimsOf(step: RoomStep): readonly string[] {
  return step.kind === 'Evict' ? step.victims.map(({ name }) => name) : [];
}
