import { ageText } from '#shared/domain/model/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import { ofKind } from '#cli/manifests/parse-manifests.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { Listing } from '#cli/output/listing.ts';
import { type PriorityRow, priorityRows } from './priority-rows.ts';
import { type QueueRow, queueRows } from './queue-rows.ts';

/** All priorities, the highest first. */
export function priorityList(read: ClusterManifests): Listing<PriorityRow> {
  const { classes, pods } = clusterModel(read);
  return {
    kind: 'PrioritySummary',
    rows: priorityRows(classes.values(), pods),
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `priorityclass.scheduling.k8s.io/${metadata.name}`,
    columns: [
      { header: 'NAME', cell: ({ metadata }) => metadata.name },
      { header: 'PRIORITY', cell: ({ priority }) => String(priority) },
      { header: 'PREEMPTS', cell: ({ preempts }) => String(preempts) },
      { header: 'DEFAULT', cell: ({ globalDefault }) => String(globalDefault) },
      { header: 'PODS', cell: ({ pods: count }) => String(count) },
      { header: 'NAMESPACES', cell: ({ namespaces }) => String(namespaces) },
      { header: 'CPU', cell: ({ requests }) => readableAmount(requests.cpu) },
      { header: 'MEMORY', cell: ({ requests }) => readableAmount(requests.memory) },
    ],
  };
}

/** The queues as a tree; sorted by something else they are no tree, and not indented. */
export function queueList(
  { manifests, now }: ClusterManifests,
  { resource, isTree }: { readonly resource: string; readonly isTree: boolean },
): Listing<QueueRow> {
  const amount = (header: string, field: 'guaranteed' | 'deserved' | 'allocated' | 'used' | 'pending') => ({
    header,
    cell: (row: QueueRow) => row[field][resource] ?? NOT_WRITTEN,
  });
  return {
    kind: 'QueueSummary',
    rows: queueRows(ofKind(manifests, QUEUES)),
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
    ],
  };
}

/** What stands for a figure that the leader has not written. */
const NOT_WRITTEN = '-';
const MAX_INDENT = 20;

function indent(depth: number): string {
  return '  '.repeat(Math.min(depth, MAX_INDENT));
}

function oldestText(oldest: string | undefined, now: Instant): string {
  return oldest === undefined ? NOT_WRITTEN : ageText(Date.parse(oldest), now);
}
