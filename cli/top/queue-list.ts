import { decodeQueue, type QueueObject } from '#shared/api/queue.ts';
import { encodeAmounts } from '#shared/api/fields.ts';
import { ageText } from '#shared/domain/base/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Listing } from '#cli/output/listing.ts';

/** The queues as a tree; not indented if they are sorted by something else. */
export function queueList(
  { manifests, now }: ClusterManifests,
  { resource, isTree }: { readonly resource: string; readonly isTree: boolean },
): Listing<QueueRow> {
  const amount = (header: string, field: 'guaranteed' | 'deserved' | 'allocated' | 'used' | 'pending') => ({
    header,
    cell: (row: QueueRow) => row[field][resource] ?? NOT_WRITTEN,
  });
  const rows = queueRows(ofKind(manifests, QUEUES));
  const hasGangs = rows.some(({ waitingGangs }) => waitingGangs !== undefined);
  return {
    kind: 'QueueSummary',
    rows,
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `queue.${API_GROUP}/${metadata.name}`,
    columns: [
      { header: 'NAME', cell: ({ depth, metadata }) => `${isTree ? indent(depth) : ''}${metadata.name}` },
      { header: 'WEIGHT', cell: ({ weight }) => String(weight) },
      amount('GUARANTEED', 'guaranteed'),
      amount('DESERVED', 'deserved'),
      amount('ALLOCATED', 'allocated'),
      amount('USED', 'used'),
      amount('PENDING', 'pending'),
      { header: 'WAITING', cell: ({ waitingPods }) => String(waitingPods ?? NOT_WRITTEN) },
      { header: 'OLDEST', cell: ({ oldestWaiting }) => oldestText(oldestWaiting, now), isAge: true },
      ...(hasGangs ? [{ header: 'GANGS', cell: ({ waitingGangs }: QueueRow) => waitingGangs ?? NOT_WRITTEN }] : []),
    ],
  };
}

/** Shown for a figure that the leader has not written. */
const NOT_WRITTEN = '-';
const MAX_INDENT = 20;

function indent(depth: number): string {
  return '  '.repeat(Math.min(depth, MAX_INDENT));
}

function oldestText(oldest: string | undefined, now: Instant): string {
  return oldest === undefined ? NOT_WRITTEN : ageText(Date.parse(oldest), now);
}

/** A queue as its status shows it, with its depth in the tree. */
interface QueueRow {
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
  /** What the condition GangsWait says. */
  readonly waitingGangs?: string;
}

type Texts = Readonly<Record<string, string>>;

/** All queues, each below its parent, siblings by name. Queues in no tree come last, at depth 0. */
function queueRows(manifests: readonly Manifest[]): readonly QueueRow[] {
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

interface QueueWithStatus {
  readonly object: QueueObject;
  readonly status: unknown;
}

/** A loop, because a tree may be a thousand queues deep. */
function below(
  root: string,
  depth: number,
  byParent: ReadonlyMap<string, readonly QueueWithStatus[]>,
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

function rowOf({ object, status }: QueueWithStatus, depth: number): QueueRow {
  const [waitingPods, oldestWaiting] = [fieldOf(status, 'waitingPods'), fieldOf(status, 'oldestWaiting')];
  return {
    metadata: { name: object.name },
    depth,
    weight: object.weight,
    guaranteed: encodeAmounts(object.guaranteed),
    deserved: textsIn(status, 'deserved'),
    allocated: textsIn(status, 'allocated'),
    used: textsIn(status, 'used'),
    pending: textsIn(status, 'pending'),
    ...(typeof waitingPods === 'number' && { waitingPods }),
    ...(typeof oldestWaiting === 'string' && { oldestWaiting }),
    ...gangsIn(status),
  };
}

function gangsIn(status: unknown): Pick<QueueRow, 'waitingGangs'> {
  const conditions = itemsOf(fieldOf(status, 'conditions'));
  const found = conditions.find((each) => fieldOf(each, 'type') === 'GangsWait' && fieldOf(each, 'status') === 'True');
  const message = fieldOf(found, 'message');
  return typeof message === 'string' ? { waitingGangs: message } : {};
}

function textsIn(status: unknown, field: string): Texts {
  const amounts = fieldOf(status, field);
  if (!isRecord(amounts)) return {};
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
}
