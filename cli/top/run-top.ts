import { ageText } from '#shared/domain/model/texts.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { NODE_PRESSURES, PODS, PRIORITY_CLASSES, QUEUES } from '#shared/kube/resource.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { nameOfType } from '#cli/cluster/find-pod.ts';
import { readManifests } from '#cli/cluster/read-manifests.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { formatAnswer, listDocument } from '#cli/output/answer.ts';
import type { OutputFormat } from '#cli/output/output-option.ts';
import { formatTable } from '#cli/output/table.ts';
import { NO_NODE_PRESSURE, NO_QUEUE, noNode, stale, UNKNOWN } from './messages.ts';
import { type PriorityRow, priorityRows } from './priority-rows.ts';
import { type QueueRow, queueRows } from './queue-rows.ts';
import { nodeRows, podRows, type NodeRow, type PodRow } from './top-rows.ts';

/** Also which resource the amounts are of. */
export interface TopQueuesOptions extends TopOptions {
  readonly resource: string;
}

export interface TopOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly namespace?: string;
}

/** Carries out `plimsoll top nodes`, of one node if it is named. */
export async function runTopNodes(wanted: string | undefined, options: TopOptions, io: ProcessIo): Promise<void> {
  const { pressures, now } = await readPressures(options, io);
  const rows = rowsOf(nodeRows(pressures, now), wanted);
  const answer = {
    document: listDocument('NodeSummary', rows),
    table: (isWide: boolean) => formatTable(...nodeTable(rows, isWide, now)),
    names: rows.map(({ metadata }) => `node/${metadata.name}`),
  };
  io.print(await formatAnswer(answer, options.output));
  tellStale(rows, io);
}

function rowsOf(rows: readonly NodeRow[], wanted: string | undefined): readonly NodeRow[] {
  if (wanted === undefined) return rows;
  const name = nameOfType(wanted, 'node');
  const found = rows.filter(({ metadata }) => metadata.name === name);
  if (found.length === 0) throw new InputError(noNode(name));
  return found;
}

/** Carries out `plimsoll top pods`. */
export async function runTopPods(options: TopOptions, io: ProcessIo): Promise<void> {
  const { pressures, now } = await readPressures(options, io);
  const { namespace } = options;
  const rows = podRows(pressures, now).filter(
    ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
  );
  const answer = {
    document: listDocument('EvictionCandidate', rows),
    table: () => formatTable(...podTable(rows, now)),
    names: rows.map(({ metadata }) => `pod/${metadata.name}`),
  };
  io.print(await formatAnswer(answer, options.output));
  tellStale(nodeRows(pressures, now), io);
}

/** Carries out `plimsoll top priorities`. */
export async function runTopPriorities(options: TopOptions, io: ProcessIo): Promise<void> {
  const { classes, pods } = clusterModel(await readManifests(options, [PRIORITY_CLASSES, PODS], io));
  const rows = priorityRows(classes.values(), pods);
  const answer = {
    document: listDocument('PrioritySummary', rows),
    table: () => formatTable(PRIORITY_HEADER, rows.map(priorityCells)),
    names: rows.map(({ metadata }) => `priorityclass.scheduling.k8s.io/${metadata.name}`),
  };
  io.print(await formatAnswer(answer, options.output));
}

const PRIORITY_HEADER = ['NAME', 'PRIORITY', 'PREEMPTS', 'DEFAULT', 'PODS', 'NAMESPACES', 'CPU', 'MEMORY'];

function priorityCells({ metadata, priority, preempts, globalDefault, ...row }: PriorityRow): readonly string[] {
  const [is, isDefault] = [preempts, globalDefault].map(String);
  const { cpu, memory } = row.requests;
  const amounts = [cpu, memory].map(readableAmount);
  return [
    metadata.name,
    String(priority),
    is ?? '',
    isDefault ?? '',
    String(row.pods),
    String(row.namespaces),
    ...amounts,
  ];
}

/** Carries out `plimsoll top queues`. */
export async function runTopQueues({ resource, ...options }: TopQueuesOptions, io: ProcessIo): Promise<void> {
  const read = await readManifests(options, [QUEUES], io);
  const rows = queueRows(read.manifests.filter(({ kind }) => kind === QUEUES.kind));
  if (rows.length === 0) throw new InputError(NO_QUEUE);
  const answer = {
    document: listDocument('QueueSummary', rows),
    table: () =>
      formatTable(
        QUEUE_HEADER,
        rows.map((row) => queueCells(row, resource, read.now)),
      ),
    names: rows.map(({ metadata }) => `queue/${metadata.name}`),
  };
  io.print(await formatAnswer(answer, options.output));
}

const QUEUE_HEADER = ['NAME', 'WEIGHT', 'GUARANTEED', 'DESERVED', 'LET-IN', 'USED', 'PENDING', 'WAITING', 'OLDEST'];

/** Indented by the depth in the tree; `-` where the leader has written nothing. */
function queueCells(row: QueueRow, resource: string, now: number): readonly string[] {
  const { metadata, depth, weight, waitingPods, oldestWaiting } = row;
  const amounts = [row.deserved, row.allocated, row.used, row.pending].map((of) => of[resource] ?? '-');
  const oldest = oldestWaiting === undefined ? '-' : ageText(Date.parse(oldestWaiting), now);
  const name = `${'  '.repeat(Math.min(depth, MAX_INDENT))}${metadata.name}`;
  return [name, String(weight), row.guaranteed[resource] ?? '-', ...amounts, String(waitingPods ?? '-'), oldest];
}

const MAX_INDENT = 20;

async function readPressures(options: TopOptions, io: ProcessIo) {
  const read = await readManifests(options, [NODE_PRESSURES], io);
  const { pressures } = clusterModel(read);
  if (pressures.length === 0) throw new InputError(NO_NODE_PRESSURE);
  return { pressures, now: read.now };
}

function tellStale(rows: readonly NodeRow[], io: ProcessIo): void {
  const unknown = rows.filter(({ state }) => state === 'Unknown').map(({ metadata }) => metadata.name);
  if (unknown.length > 0) io.tell(`Warning: ${stale(unknown)}`);
}

type Table = [header: readonly string[], rows: readonly (readonly string[])[]];

/** As with kubectl, the columns of `-o wide` stand behind the age. */
function nodeTable(rows: readonly NodeRow[], isWide: boolean, now: number): Table {
  const header = ['NAME', 'MODE', 'STATE', 'SIGNAL', 'AVAILABLE', 'THRESHOLD', 'NEXT', 'AGE'];
  const wide = ['CAPACITY', 'POLICY', 'VERSION'];
  return [isWide ? [...header, ...wide] : header, rows.map((row) => nodeCells(row, isWide, now))];
}

function nodeCells(row: NodeRow, isWide: boolean, now: number): readonly string[] {
  const { metadata, mode, state, signal, next = '<none>', policy = '<none>', version = UNKNOWN } = row;
  const [available = '', threshold = '', capacity = ''] = [row.available, row.threshold, row.capacity].map(amountText);
  const cells = [metadata.name, mode, state, signal, available, threshold, next, observedAge(row, now)];
  return isWide ? [...cells, capacity, policy, version] : cells;
}

/** Free text stands last, as in `kubectl get events`. */
function podTable(rows: readonly PodRow[], now: number): Table {
  const header = ['NAMESPACE', 'NAME', 'NODE', 'POSITION', 'PRIORITY', 'USAGE', 'REQUEST', 'AGE', 'REASON'];
  return [header, rows.map((row) => podCells(row, now))];
}

function podCells(row: PodRow, now: number): readonly string[] {
  const { metadata, node, position, priority = 0, usage, request, reason } = row;
  const amounts = [usage, request].map(amountText);
  const { namespace = '', name } = metadata;
  return [namespace, name, node, String(position), String(priority), ...amounts, observedAge(row, now), reason];
}

function observedAge({ observedAt }: Pick<NodeRow, 'observedAt'>, now: number): string {
  return ageText(observedAt === undefined ? undefined : Date.parse(observedAt), now);
}

function amountText(amount: string | undefined): string {
  return amount === undefined ? UNKNOWN : readableAmount(amount);
}
