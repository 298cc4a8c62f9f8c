import { readableAmount } from '#shared/domain/quantity/readable-amount.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { readManifests } from '#cli/cluster/read-manifests.ts';
import { InputError } from '#cli/input-error.ts';
import { formatDocument, type OutputFormat } from '#cli/output.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { formatTable } from '#cli/table.ts';
import { NO_NODE_PRESSURE, stale, UNKNOWN } from './messages.ts';
import { nodeRows, podRows, type NodeRow, type PodRow } from './top-rows.ts';

export interface TopOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly namespace?: string;
}

/** Carries out `plimsoll top nodes`. */
export async function runTopNodes(options: TopOptions, io: ProcessIo): Promise<void> {
  const { pressures, now } = await readPressures(options, io);
  const rows = nodeRows(pressures, now);
  io.print(options.output === 'table' ? printNodes(rows) : await formatDocument(rows, options.output));
  tellStale(rows, io);
}

/** Carries out `plimsoll top pods`. */
export async function runTopPods(options: TopOptions, io: ProcessIo): Promise<void> {
  const { pressures, now } = await readPressures(options, io);
  const { namespace } = options;
  const rows = podRows(pressures, now).filter(({ pod }) => namespace === undefined || pod.startsWith(`${namespace}/`));
  io.print(options.output === 'table' ? printPods(rows) : await formatDocument(rows, options.output));
  tellStale(nodeRows(pressures, now), io);
}

async function readPressures(options: TopOptions, io: ProcessIo) {
  const read = await readManifests(options, [NODE_PRESSURES], io);
  const { pressures } = clusterModel(read);
  if (pressures.length === 0) throw new InputError(NO_NODE_PRESSURE);
  return { pressures, now: read.now };
}

function tellStale(rows: readonly NodeRow[], io: ProcessIo): void {
  const unknown = rows.filter(({ state }) => state === 'Unknown').map(({ node }) => node);
  if (unknown.length > 0) io.tell(`Warning: ${stale(unknown)}`);
}

function printNodes(rows: readonly NodeRow[]): string {
  const header = ['NODE', 'MODE', 'STATE', 'SIGNAL', 'AVAILABLE', 'THRESHOLD', 'CAPACITY', 'NEXT'];
  const cells = rows.map(({ node, mode, state, signal, next, ...row }) => {
    const amounts = [row.available, row.threshold, row.capacity].map(amountText);
    return [node, mode, state, signal, ...amounts, next ?? '<none>'];
  });
  return formatTable(header, cells);
}

function printPods(rows: readonly PodRow[]): string {
  const header = ['NODE', 'POSITION', 'POD', 'PRIORITY', 'USAGE', 'REQUEST', 'REASON'];
  const cells = rows.map(({ node, position, pod, priority, usage, request, reason }) => {
    return [node, String(position), pod, String(priority ?? 0), amountText(usage), amountText(request), reason];
  });
  return formatTable(header, cells);
}

function amountText(amount: string | undefined): string {
  return amount === undefined ? UNKNOWN : readableAmount(amount);
}
