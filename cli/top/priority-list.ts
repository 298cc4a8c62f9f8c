import { compareTexts } from '#shared/domain/base/texts.ts';
import { hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import { readableAmount, formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import type { PriorityClass } from '#shared/domain/priority/classes-and-policies.ts';
import { addAmounts, type Amounts, NO_AMOUNTS, ZERO } from '#shared/domain/quantity/quantity.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { Listing } from '#cli/output/listing.ts';
import type { Metadata } from '#cli/output/answer.ts';

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

/** One priority of `plimsoll top priorities`: a class, or pods whose class is gone. */
interface PriorityRow {
  /** Of the class; `<none>` for pods without one. */
  readonly metadata: Metadata;
  readonly priority: number;
  readonly preempts: boolean;
  readonly globalDefault: boolean;
  /** Pods that have not ended. */
  readonly pods: number;
  readonly namespaces: number;
  /** The sum of their requests. */
  readonly requests: { readonly cpu: string; readonly memory: string };
}

interface LevelTotals extends Pick<PriorityRow, 'priority' | 'preempts' | 'globalDefault'> {
  readonly name: string;
}

/** All priorities in their order, the highest first: which pods can preempt which, and what each level requests (S3-6). */
function priorityRows(classes: Iterable<PriorityClass>, pods: readonly Pod[]): readonly PriorityRow[] {
  const live = pods.filter((pod) => !hasEnded(pod));
  const known = new Map(Array.from(classes, (each) => [keyOf(each.name, each.value), levelOf(each)]));
  const byLevel = Map.groupBy(live, ({ spec }) => keyOf(spec.priorityClassName, spec.priority));
  const others = [...byLevel].filter(([key]) => !known.has(key)).map(([key, [pod]]) => [key, levelOfPod(pod)] as const);
  return [...known, ...others].map(([key, level]) => rowOf(level, byLevel.get(key) ?? [])).toSorted(byPriority);
}

/** A class that was recreated with a different value is a different level from that of its old pods. */
function keyOf(className: string | undefined, priority: number | undefined): string {
  return `${priority ?? 0} ${className ?? ''}`;
}

function levelOf({ name, value, preemptionPolicy, isGlobalDefault }: PriorityClass): LevelTotals {
  return { name, priority: value, preempts: preemptionPolicy !== 'Never', globalDefault: isGlobalDefault };
}

function levelOfPod(pod: Pod | undefined): LevelTotals {
  const { priorityClassName = '<none>', priority = 0, preemptionPolicy } = pod?.spec ?? {};
  return { name: priorityClassName, priority, preempts: preemptionPolicy !== 'Never', globalDefault: false };
}

function rowOf({ name, ...level }: LevelTotals, pods: readonly Pod[]): PriorityRow {
  const requests = pods.reduce<Amounts>((sum, pod) => addAmounts(sum, podRequests(pod, SCHEDULER_VIEW)), NO_AMOUNTS);
  return {
    metadata: { name },
    ...level,
    pods: pods.length,
    namespaces: new Set(pods.map(({ namespace }) => namespace)).size,
    requests: { cpu: amountText(requests, 'cpu'), memory: amountText(requests, 'memory') },
  };
}

function amountText(amounts: Amounts, resource: string): string {
  return formatQuantity(amounts.get(resource) ?? ZERO);
}

function byPriority(a: PriorityRow, b: PriorityRow): number {
  return b.priority - a.priority || compareTexts(a.metadata.name, b.metadata.name);
}
