import { spareAmountText } from '#shared/domain/spare/spare-amounts.ts';
import type { SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { spareSums } from '#shared/domain/spare/spare-sums.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';
import {
  NODE_PRESSURES,
  NODES,
  PODS,
  PRIORITY_CLASSES,
  PRIORITY_QUOTAS,
  QUEUES,
  RESOURCE_QUOTAS,
} from '#shared/kube/resource.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import { nameOfType } from '#cli/cluster/find-pod.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { type ListCommandOptions, showList, tellIfEmpty } from '#cli/cluster/show-list.ts';
import { isTable } from '#cli/output/output-option.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { formatListing } from '#cli/output/listing.ts';
import { notShown } from '#cli/cluster/own-namespace.ts';
import { readQuotas } from '#cli/cluster/read-quotas.ts';
import {
  NO_CANDIDATE,
  NO_NODE,
  NO_NODE_PRESSURE,
  NO_QUEUE,
  NO_QUOTA,
  NO_SPARE_ROOM,
  noNode,
  noQuotaIn,
  spareSumsText,
  stale,
  WATCHES_ALL,
} from './messages.ts';
import { nodeList, podList, silentNodes } from './node-lists.ts';
import { priorityList } from './priority-list.ts';
import { queueList } from './queue-list.ts';
import { quotaList } from './quota-list.ts';
import { spareList } from './spare-list.ts';

/** Also which resource the amounts are of. */
export interface TopQueuesOptions extends ListCommandOptions {
  readonly resource: string;
}

export interface TopSpareOptions extends ListCommandOptions {
  readonly resource: SpareKind;
}

export interface TopOptions extends ListCommandOptions {
  readonly namespace?: string;
  readonly selector?: Selector;
}

/** Carries out `plimsoll top nodes`, of one node if it is named. */
export async function runTopNodes(wanted: string | undefined, options: TopOptions, io: ProcessIo): Promise<void> {
  const { selector } = options;
  const name = wanted === undefined ? undefined : nameOfType(wanted, 'node');
  const source = {
    resources: [NODE_PRESSURES, ...(selector === undefined ? [] : [NODES])],
    listing: (read: ClusterManifests) => nodeList(read, { name, selector }),
  } as const;
  await showList(source, options, io, (read, list) => {
    const { rows } = list;
    if (rows.length === 0 && name !== undefined) throw new InputError(noNode(name));
    tellIfEmpty(list, whyNoReport(read, NO_NODE), options, io);
    tellSilent(
      rows.filter(({ state }) => state === 'Unknown').map(({ metadata }) => metadata.name),
      io,
    );
  });
}

/** Carries out `plimsoll top pods`. */
export async function runTopPods(options: TopOptions, io: ProcessIo): Promise<void> {
  const source = {
    resources: [NODE_PRESSURES, ...(options.selector === undefined ? [] : [PODS])],
    listing: (read: ClusterManifests) => podList(read, options),
  } as const;
  await showList(source, options, io, (read, list) => {
    tellSilent(silentNodes(clusterModel(read).pressures, read.now), io);
    tellIfEmpty(list, whyNoReport(read, NO_CANDIDATE), options, io);
  });
}

/** Carries out `plimsoll top priorities`. */
export async function runTopPriorities(options: TopOptions, io: ProcessIo): Promise<void> {
  await showList({ resources: [PRIORITY_CLASSES, PODS], listing: priorityList }, options, io);
}

/** Carries out `plimsoll top quotas`; of one namespace from what the caller may read there. */
export async function runTopQuotas(options: TopOptions, io: ProcessIo): Promise<void> {
  const { namespace } = options;
  if (namespace !== undefined) return topQuotasOf(namespace, options, io);
  await showList({ resources: [PRIORITY_QUOTAS, RESOURCE_QUOTAS], listing: quotaList }, options, io, (_, list) => {
    tellIfEmpty(list, NO_QUOTA, options, io);
  });
}

async function topQuotasOf(namespace: string, options: TopOptions, io: ProcessIo): Promise<void> {
  if (options.watch === true) throw new InputError(WATCHES_ALL);
  const { hidden, ...read } = await readQuotas(options, io);
  const found = quotaList(read, namespace);
  if (hidden.length > 0 && isTable(options.output)) io.tell(`Warning: ${notShown(hidden.join(', '))}`);
  tellIfEmpty(found, noQuotaIn(namespace), options, io);
  io.print(await formatListing(found, options));
}

/** Carries out `plimsoll top spare`. */
export async function runTopSpare({ resource, ...options }: TopSpareOptions, io: ProcessIo): Promise<void> {
  const listing = (read: ClusterManifests) => spareList(read, resource);
  await showList({ resources: [NODE_PRESSURES], listing }, options, io, (read, list) => {
    const { rows } = list;
    tellIfEmpty(list, whyNoReport(read, NO_SPARE_ROOM), options, io);
    if (rows.length > 0 && isTable(options.output)) tellSums(rows, resource, io);
  });
}

function tellSums(rows: ReturnType<typeof spareList>['rows'], resource: SpareKind, io: ProcessIo): void {
  const sums = spareSums(rows);
  const text = (name: keyof typeof sums) => spareAmountText(resource, sums[name]);
  const [requested, idle, lent, taken] = [text('requested'), text('idle'), text('lent'), text('taken')];
  io.tell(spareSumsText({ nodes: rows.length, resource, requested, idle, lent, taken }));
}

/** Carries out `plimsoll top queues`. */
export async function runTopQueues({ resource, ...options }: TopQueuesOptions, io: ProcessIo): Promise<void> {
  const isTree = options.sortBy === undefined;
  const listing = (read: ClusterManifests) => queueList(read, { resource, isTree });
  await showList({ resources: [QUEUES], listing }, options, io, (_, list) => {
    tellIfEmpty(list, NO_QUEUE, options, io);
  });
}

/** Without any report, agents are missing. */
function whyNoReport(read: ClusterManifests, otherwise: string): string {
  return clusterModel(read).pressures.length === 0 ? NO_NODE_PRESSURE : otherwise;
}

function tellSilent(nodes: readonly string[], io: ProcessIo): void {
  if (nodes.length > 0) io.tell(`Warning: ${stale(nodes)}`);
}
