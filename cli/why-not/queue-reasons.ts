import type { Because } from '#shared/domain/base/because.ts';
import { compareTexts, podName } from '#shared/domain/base/texts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import { queueQuantity } from '#shared/domain/queue/queue.ts';
import { isLeaf } from '#shared/domain/queue/queue-tree.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { queueScene, type QueueScene } from '#cli/simulate/queue-scene.ts';
import { queueView } from '#cli/simulate/queue-view.ts';
import { holdsMore } from './messages.ts';

/**
 * Why pods wait in their queues, by `namespace/name`, as the leader of the queues would decide now, and who has what they
 * lack.
 */
export function queueReasons(read: ClusterManifests): (pod: string) => Because | undefined {
  let made: ReadonlyMap<string, Because> | undefined;
  return (pod) => (made ??= reasonsOf(queueScene(read))).get(pod);
}

function reasonsOf(scene: QueueScene): ReadonlyMap<string, Because> {
  const texts = new Map<string, string>();
  return new Map(
    waitingIn(scene).map(({ pod, because }) => {
      const type = String(because.facts['type'] ?? '');
      const held = texts.get(type) ?? holdersIn(scene, type).join('; ');
      texts.set(type, held);
      return [pod, held === '' ? because : { ...because, text: `${because.text}; ${held}` }];
    }),
  );
}

/** Also those that the next pass lets in. */
function waitingIn(scene: QueueScene) {
  const { waiting, letIn } = queueView(scene);
  return [...waiting, ...letIn];
}

const MAX_HOLDERS = 3;

/** The queues that hold more of a resource than they deserve, each with its largest pod. */
function holdersIn({ plan, room }: QueueScene, type: string): readonly string[] {
  const { tree } = plan.directory;
  const over = tree.queues.flatMap(({ name }, index) => {
    const [used, deserved] = [usedBy(plan.used, index, type), deservedOf(plan.shares, index).get(type) ?? 0];
    return isLeaf(tree, index) && minus(used, deserved) > 0 ? [{ queue: name, used, deserved }] : [];
  });
  const text = (amount: Whole): string => formatQuantity(queueQuantity(type, amount));
  return over
    .slice(0, MAX_HOLDERS)
    .map(({ queue, used, deserved }) =>
      holdsMore({ queue, type, used: text(used), deserved: text(deserved), largest: largestOf(room, queue, type) }),
    );
}

function largestOf({ pods }: QueueScene['room'], queue: string, type: string): string | undefined {
  const placed = Array.from(pods.values()).filter(({ admitted, isBound }) => isBound && admitted?.queue === queue);
  const [largest] = placed.toSorted(
    (a, b) => Number(minus(b.requests.get(type) ?? 0, a.requests.get(type) ?? 0)) || compareTexts(a.name, b.name),
  );
  return largest && podName(largest);
}
