import type { Because } from '#shared/domain/base/because.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { compareWaiting, type LetIn, whyWaiting } from '#shared/domain/queue/let-in.ts';
import { makeRoomInSteps, type RoomStep, type Seeker } from '#shared/domain/queue/make-room.ts';
import { type QueueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import { withWayOut } from '#shared/decide/queues/rollouts.ts';
import { readRoomState } from '#shared/decide/queues/room-state.ts';
import { seekerOf, seekersOf } from '#shared/decide/queues/seekers.ts';
import { NOT_SIMULATED } from '#shared/decide/simulation/messages.ts';
import { formatSection, formatTable, joinParts, printLine } from '#cli/output/table.ts';
import { QUEUES } from './messages.ts';
import { gangRooms } from './gang-rooms.ts';
import type { QueueScene } from './queue-scene.ts';

/** What `plimsoll simulate queue -o json` prints. */
export interface QueueSimulation {
  readonly message: string;
  readonly queues: readonly SimulatedQueue[];
  /** In the order in which they are let in. */
  readonly letIn: readonly PlacedPodRow[];
  readonly waiting: readonly PlacedPodRow[];
  readonly notes: readonly string[];
}

type AmountTexts = Readonly<Record<string, string>>;

interface SimulatedQueue {
  readonly name: string;
  /** Depth below the root, which has 0. */
  readonly depth: number;
  readonly weight: number;
  readonly guaranteed: AmountTexts;
  readonly deserved: AmountTexts;
  readonly used: AmountTexts;
  readonly waitingPods: number;
}

interface PlacedPodRow {
  readonly pod: string;
  readonly queue: string;
  readonly because: Because;
  /** Where there is room for it, or room is made; absent if there is none or it was not searched. */
  readonly node?: string;
  readonly victims: readonly string[];
}

/** The number of pods per list for which room is searched: on 5,000 nodes that takes 50 ms per pod. */
const MAX_LOOKED_AT = 50;

/** The decisions of the leader of the queues, for people. */
export function queueView(scene: QueueScene): QueueSimulation {
  const { plan } = scene;
  const { decision, held, homeless, outOfGang, released, returned } = plan;
  const rooms = roomsFor(scene);
  const isPlanless = ({ pod: { uid, gang } }: LetIn) => gang !== undefined && rooms.get(uid)?.kind === 'None';
  const rowOf = (pod: WaitingPod, because: Because) => podRow(pod, because, rooms.get(pod.uid));
  const letInRow = ({ pod, because }: LetIn) => rowOf(pod, because);
  const letIn = [
    ...released.map((pod) => outsideRow(pod, QUEUES.released)),
    ...decision.letIn.filter((each) => !isPlanless(each)).map(letInRow),
    ...plan.letIn.filter(({ against }) => against !== undefined).map((pod) => rowOf(pod, QUEUES.replaces)),
  ];
  const waiting = [
    ...decision.letIn.filter(isPlanless).map(letInRow),
    ...held.map((pod) => rowOf(pod, withWayOut(whyWaiting(plan.question, decision, pod), plan.heldRollouts, pod))),
    ...[...homeless, ...outOfGang].map(({ pod, because, queue }) => outsideRow(pod, because, queue)),
    ...returned.map(({ pod, queue, because }) => rowOf(pod.asWaiting(queue), because)),
  ];
  return {
    message: QUEUES.headline(letIn.length, waiting.length),
    queues: queueRows(plan),
    letIn,
    waiting,
    notes: [
      ...scene.faults,
      ...(Math.max(decision.letIn.length, held.length) > MAX_LOOKED_AT ? [QUEUES.lookedAt(MAX_LOOKED_AT)] : []),
      NOT_SIMULATED,
    ],
  };
}

/**
 * Where there is room for pods, or which pods make room, by UID: for those to let in, one after the other together with
 * those already let in, and for each waiting pod on its own, if no other queue gives it room.
 */
function roomsFor(scene: QueueScene): ReadonlyMap<string, RoomStep> {
  const { plan, room } = scene;
  const state = finish(readRoomState(room));
  const decide = (seekers: readonly Seeker[]) => finish(makeRoomInSteps(state, seekers, room.now));
  const asSeeker = (pod: WaitingPod): readonly Seeker[] => {
    const queued = room.pods.get(pod.uid);
    return queued === undefined ? [] : [seekerOf(pod, queued, room.snapshot)];
  };
  const entering = [...finish(seekersOf(room)), ...plan.letIn.flatMap(asSeeker)];
  const inOrder = entering.sort((a, b) => compareWaiting(a.pod, b.pod)).slice(0, MAX_LOOKED_AT);
  // Free room does not explain why a pod waits for its queue.
  const denied = plan.held.slice(0, MAX_LOOKED_AT).flatMap((pod) => decide(asSeeker(pod)));
  const steps = [...decide(inOrder), ...denied.filter(({ step }) => step.kind === 'None')];
  return new Map([...steps.map(({ seeker, step }) => [seeker.pod.uid, step] as const), ...gangRooms(scene)]);
}

/** Why the pod is let in or waits, then where there is room for it, which pods make room, or why no pod does. */
function podRow({ name, queue }: WaitingPod, because: Because, room: RoomStep | undefined): PlacedPodRow {
  const text = room === undefined ? because.text : `${because.text}; ${room.because.text}`;
  const victims = room?.kind === 'Evict' ? room.victims.map((victim) => victim.name) : [];
  const row = { pod: name, queue, because: { ...because, text }, victims };
  return room === undefined || room.kind === 'None' ? row : { ...row, node: room.node };
}

/** A pod that stands in no queue, or aside. */
function outsideRow(
  { namespace, name }: Pick<QueuedPod, 'namespace' | 'name'>,
  because: Because,
  queue = '',
): PlacedPodRow {
  return { pod: `${namespace}/${name}`, queue, because, victims: [] };
}

/** Parents before their children, siblings by name. */
function queueRows({ directory: { tree }, shares, used, question }: QueuePlan): readonly SimulatedQueue[] {
  const rows: SimulatedQueue[] = [];
  const visit = (index: number): void => {
    const { name = '', weight = 0, guaranteed = new Map<string, Whole>() } = tree.queues[index] ?? {};
    const share = deservedOf(shares, index);
    const usage = new Map(Array.from(share.keys(), (type) => [type, usedBy(used, index, type)]));
    const isBelow = (queue: string): boolean => pathOf(tree, tree.indexes.get(queue) ?? 0).includes(index);
    rows.push({
      name,
      weight,
      depth: pathOf(tree, index).length - 1,
      guaranteed: texts(guaranteed),
      deserved: texts(share),
      used: texts(usage),
      waitingPods: question.waiting.filter(({ queue }) => isBelow(queue)).length,
    });
    for (const child of tree.children[index] ?? []) visit(child);
  };
  visit(0);
  return rows;
}

function texts(amounts: QueueAmounts): AmountTexts {
  return Object.fromEntries(
    Array.from(amounts, ([type, amount]) => [type, formatQuantity(queueQuantity(type, amount))]),
  );
}

/** The view as tables: one row per queue and type with data. */
export function printQueues({ message, queues, letIn, waiting }: QueueSimulation): string {
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

function rowsOf({ name, depth, weight, guaranteed, deserved, used, waitingPods }: SimulatedQueue): readonly string[][] {
  const isZero = (amount: string | undefined): boolean => amount === undefined || amount === '0';
  const shown = Object.keys(deserved).filter((type) => {
    return COMMON_TYPES.includes(type) || !isZero(used[type]) || !isZero(guaranteed[type]);
  });
  return shown.map((type, index) => [
    ...(index === 0 ? ['  '.repeat(depth) + name, String(weight), String(waitingPods)] : ['', '', '']),
    ...[type, guaranteed[type] ?? '-', deserved[type] ?? '0', used[type] ?? '0'],
  ]);
}
