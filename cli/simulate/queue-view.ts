import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { compareWaiting, decideLetIn, type LetInQuestion, whyWaiting } from '#shared/domain/queue/let-in.ts';
import { type QueueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { decideReclaim, type ReclaimDecision } from '#shared/domain/queue/reclaim.ts';
import { fitCheck } from '#shared/domain/queue/seen-to-fit.ts';
import { deservedShares } from '#shared/domain/queue/shares.ts';
import { AmountsByQueue, type QueueUsage, sumUsage, usedBy } from '#shared/domain/queue/usage.ts';
import { formatSection, formatTable, joinParts, printLine } from '#cli/output/table.ts';
import { NOT_SIMULATED, QUEUES } from './messages.ts';
import type { QueueScene } from './queue-scene.ts';

/** What `plimsoll simulate queue -o json` prints. */
export interface QueueView {
  readonly message: string;
  readonly queues: readonly QueueRow[];
  /** In the order in which they go in. */
  readonly letIn: readonly PodRow[];
  readonly waiting: readonly PodRow[];
  readonly notes: readonly string[];
}

type Amounts = Readonly<Record<string, string>>;

interface QueueRow {
  readonly name: string;
  /** Below the root, which has 0. */
  readonly depth: number;
  readonly weight: number;
  readonly guaranteed: Amounts;
  readonly deserved: Amounts;
  readonly used: Amounts;
  readonly waitingPods: number;
}

interface PodRow {
  readonly pod: string;
  readonly queue: string;
  readonly because: Because;
  /** Where there is room for it, or room is made; absent where there is none, or where it was not looked for. */
  readonly node?: string;
  readonly victims: readonly string[];
}

/** For so many pods of each list room is looked for: on 5,000 nodes that takes 50 ms a pod. */
const MAX_LOOKED_AT = 50;

/** Decides on a scene as the leader of the queues does. */
export function queueView(scene: QueueScene, now: Instant): QueueView {
  const { tree, total } = scene;
  const running = scene.running.map(({ pod }) => pod);
  const waiting = scene.waiting.map(({ pod }) => pod);
  const requested = amountsByQueue([...running, ...waiting]);
  const usage = sumUsage(tree, amountsByQueue(running));
  const allowed = deservedShares({ tree, total, requested, idleGuarantees: 'Lent' });
  const question: LetInQuestion = { tree, usage, allowed, waiting };
  const decision = decideLetIn(question);
  const reasons = new Map(decision.letIn.map(({ pod, because }) => [pod, because]));
  const rowsFor = (pods: readonly WaitingPod[], becauseOf: (pod: WaitingPod) => Because): readonly PodRow[] =>
    pods.map((pod, index) => {
      const room = index < MAX_LOOKED_AT ? roomFor(scene, { usage, pod, now }) : undefined;
      // That nodes have room does not say why a pod waits for its queue.
      return podRow(pod, becauseOf(pod), room?.kind === 'fits' && !reasons.has(pod) ? undefined : room);
    });
  const held = waiting.filter((pod) => !reasons.has(pod)).sort(compareWaiting);
  const why = (pod: WaitingPod): Because => reasons.get(pod) ?? whyWaiting(question, decision, pod);
  return {
    message: QUEUES.headline(reasons.size, held.length),
    queues: queueRows(scene, usage, deservedShares({ tree, total, requested })),
    letIn: rowsFor([...reasons.keys()], why),
    waiting: rowsFor(held, why),
    notes: [
      ...(Math.max(reasons.size, held.length) > MAX_LOOKED_AT ? [QUEUES.lookedAt(MAX_LOOKED_AT)] : []),
      NOT_SIMULATED,
    ],
  };
}

interface RoomQuestion {
  readonly usage: QueueUsage;
  readonly pod: WaitingPod;
  readonly now: Instant;
}

function roomFor(scene: QueueScene, asked: RoomQuestion): ReclaimDecision | undefined {
  const object = scene.waiting.find(({ pod }) => pod === asked.pod)?.object;
  return object && decideReclaim({ ...scene, ...asked, fits: fitCheck(scene.snapshot, object) });
}

/** Why the pod goes in or waits, then where there is room for it, who makes it, or why no pod does. */
function podRow({ name, queue }: WaitingPod, because: Because, room: ReclaimDecision | undefined): PodRow {
  const text = room === undefined ? because.text : `${because.text}; ${room.because.text}`;
  const victims = room?.kind === 'reclaim' ? room.victims.map((victim) => victim.name) : [];
  const row = { pod: name, queue, because: { ...because, text }, victims };
  return room === undefined || room.kind === 'none' ? row : { ...row, node: room.node };
}

function amountsByQueue(pods: readonly { readonly queue: string; readonly requests: QueueAmounts }[]) {
  const own = new AmountsByQueue();
  for (const { queue, requests } of pods) own.add(queue, requests);
  return own.sums;
}

/** Parents before their children, siblings by name. */
function queueRows(
  { tree, waiting }: QueueScene,
  usage: QueueUsage,
  deserved: ReadonlyMap<string, QueueAmounts>,
): readonly QueueRow[] {
  const rows: QueueRow[] = [];
  const visit = (index: number): void => {
    const { name = '', weight = 0, guaranteed = new Map<string, Whole>() } = tree.queues[index] ?? {};
    const share = deserved.get(name) ?? new Map<string, Whole>();
    const used = new Map(Array.from(share.keys(), (type) => [type, usedBy(usage, index, type)]));
    const path = pathOf(tree, index);
    const isBelow = (queue: string): boolean => pathOf(tree, tree.indexes.get(queue) ?? 0).includes(index);
    rows.push({
      ...{ name, weight, depth: path.length - 1 },
      ...{ guaranteed: texts(guaranteed), deserved: texts(share), used: texts(used) },
      waitingPods: waiting.filter(({ pod }) => isBelow(pod.queue)).length,
    });
    for (const child of tree.children[index] ?? []) visit(child);
  };
  visit(0);
  return rows;
}

function texts(amounts: QueueAmounts): Amounts {
  return Object.fromEntries(
    Array.from(amounts, ([type, amount]) => [type, formatQuantity(queueQuantity(type, amount))]),
  );
}

/** The view as tables: one row a queue and type that anything is said of. */
export function printQueues({ message, queues, letIn, waiting }: QueueView): string {
  const header = ['QUEUE', 'WEIGHT', 'WAITING', 'RESOURCE', 'GUARANTEED', 'DESERVED', 'USED'];
  const rows = queues.flatMap((queue) => rowsOf(queue));
  return joinParts([
    printLine(message),
    formatTable(header, rows),
    formatSection(
      ['LET IN', 'QUEUE', 'REASON'],
      letIn.map(({ pod, queue, because }) => [pod, queue, because.text]),
    ),
    formatSection(
      ['WAITS', 'QUEUE', 'REASON'],
      waiting.map(({ pod, queue, because }) => [pod, queue, because.text]),
    ),
  ]);
}

const COMMON_TYPES: readonly string[] = ['cpu', 'memory'];

function rowsOf({ name, depth, weight, guaranteed, deserved, used, waitingPods }: QueueRow): readonly string[][] {
  const isZero = (amount: string | undefined): boolean => amount === undefined || amount === '0';
  const shown = Object.keys(deserved).filter((type) => {
    return COMMON_TYPES.includes(type) || !isZero(used[type]) || !isZero(guaranteed[type]);
  });
  return shown.map((type, index) => [
    ...(index === 0 ? ['  '.repeat(depth) + name, String(weight), String(waitingPods)] : ['', '', '']),
    ...[type, guaranteed[type] ?? '-', deserved[type] ?? '0', used[type] ?? '0'],
  ]);
}
