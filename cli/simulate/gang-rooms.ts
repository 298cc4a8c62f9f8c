import { finish } from '#shared/domain/base/steps.ts';
import { type ExpectedPod, placeTogether } from '#shared/domain/placement/together/place-together.ts';
import type { RoomStep } from '#shared/domain/queue/make-room.ts';
import type { QueueScene } from './queue-scene.ts';

/** The nodes on which the pods of gangs start, or why there is no plan for them, by UID: one gang after the other. */
export function gangRooms({ plan, room: { pods, snapshot } }: QueueScene): ReadonlyMap<string, RoomStep> {
  const rooms = new Map<string, RoomStep>();
  const expected = new Map<string, ExpectedPod>();
  for (const { members = [] } of plan.starting) {
    const waiting = members.flatMap(({ uid }) => pods.get(uid)?.unplaced ?? []);
    const found = finish(placeTogether({ snapshot, pods: waiting, expected }));
    for (const pod of waiting) {
      if (found.kind === 'None') {
        rooms.set(pod.uid, found);
        continue;
      }
      const node = found.nodeOf.get(pod.uid) ?? '';
      expected.set(pod.uid, { pod, node });
      rooms.set(pod.uid, roomOn(node));
    }
  }
  return rooms;
}

function roomOn(node: string): RoomStep {
  return { kind: 'Room', node, because: { code: 'Room', text: `starts on node ${node}`, facts: { node } } };
}
