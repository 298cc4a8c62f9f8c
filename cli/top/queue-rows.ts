import { decodeQueue, type QueueObject } from '#shared/api/queue.ts';
import { encodeAmounts } from '#shared/api/fields.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { fieldOf, isRecord } from '#shared/kube/kube-object.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';

/** A queue as its status shows it, with its depth in the tree. */
export interface QueueRow {
  readonly metadata: { readonly name: string };
  readonly depth: number;
  readonly weight: number;
  readonly guaranteed: Texts;
  readonly deserved: Texts;
  readonly allocated: Texts;
  readonly used: Texts;
  readonly pending: Texts;
  /** Absent before the leader has written the status. */
  readonly waitingPods?: number;
  readonly oldestWaiting?: string;
}

type Texts = Readonly<Record<string, string>>;

/** All queues, each below its parent, siblings by name. Queues in no tree come last, at depth 0. */
export function queueRows(manifests: readonly Manifest[]): readonly QueueRow[] {
  const queues = manifests.flatMap(({ raw }) => {
    const decoded = decodeQueue(raw);
    return decoded.ok ? [{ object: decoded.value, status: raw['status'] }] : [];
  });
  const byParent = Map.groupBy(
    queues.toSorted((a, b) => (a.object.name < b.object.name ? -1 : 1)),
    ({ object }) => (object.name === ROOT_QUEUE ? '' : (object.parent ?? ROOT_QUEUE)),
  );
  const hasRoot = byParent.has('');
  const rows = below(hasRoot ? '' : ROOT_QUEUE, 0, byParent);
  const shown = new Set(rows.map(({ metadata }) => metadata.name));
  const others = queues.filter(({ object }) => !shown.has(object.name));
  return [...rows, ...others.map((queue) => rowOf(queue, 0))];
}

interface StoredQueue {
  readonly object: QueueObject;
  readonly status: unknown;
}

/** A loop, because a tree may be a thousand queues deep. */
function below(
  root: string,
  depth: number,
  byParent: ReadonlyMap<string, readonly StoredQueue[]>,
): readonly QueueRow[] {
  const rows: QueueRow[] = [];
  const open = (byParent.get(root) ?? []).toReversed().map((queue) => ({ queue, depth }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { queue, depth: at } = next;
    rows.push(rowOf(queue, at));
    const children = byParent.get(queue.object.name) ?? [];
    open.push(...children.toReversed().map((child) => ({ queue: child, depth: at + 1 })));
  }
  return rows;
}

function rowOf({ object, status }: StoredQueue, depth: number): QueueRow {
  const [waitingPods, oldestWaiting] = [fieldOf(status, 'waitingPods'), fieldOf(status, 'oldestWaiting')];
  return {
    metadata: { name: object.name },
    ...{ depth, weight: object.weight, guaranteed: encodeAmounts(object.guaranteed) },
    deserved: textsIn(status, 'deserved'),
    allocated: textsIn(status, 'allocated'),
    used: textsIn(status, 'used'),
    pending: textsIn(status, 'pending'),
    ...(typeof waitingPods === 'number' && { waitingPods }),
    ...(typeof oldestWaiting === 'string' && { oldestWaiting }),
  };
}

function textsIn(status: unknown, field: string): Texts {
  const amounts = fieldOf(status, field);
  if (!isRecord(amounts)) return {};
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
}
