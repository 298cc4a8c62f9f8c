import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { CLUSTER_RESOURCES, clusterModel, type ClusterModel } from '#cli/cluster/cluster-model.ts';
import { findPod } from '#cli/cluster/find-pod.ts';
import { readManifests } from '#cli/cluster/read-manifests.ts';
import { reasonTable } from '#cli/cluster/reason-table.ts';
import { formatDocument, type OutputFormat } from '#cli/output.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { formatTable, joinParts, printLine } from '#cli/table.ts';
import { NO_PENDING_PODS } from './messages.ts';
import { pendingReason, type PendingReason } from './pending-reason.ts';

export interface WhyNotOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  readonly extender: boolean;
  readonly output: OutputFormat;
}

/** Carries out `plimsoll why-not`: one pod in detail, or every pending pod in a line. */
export async function runWhyNot(wanted: string | undefined, options: WhyNotOptions, io: ProcessIo): Promise<void> {
  const read = await readManifests(options, CLUSTER_RESOURCES, io);
  const model = clusterModel(read);
  const namespace = options.namespace ?? read.namespace;
  const setup = { extender: options.extender, budgets: 'BestEffort', now: read.now } as const;
  const explain = (pod: Pod) => pendingReason(model, pod, setup);
  if (wanted === undefined) {
    const reasons = pendingPods(model, options.allNamespaces ? undefined : namespace).map(explain);
    io.print(options.output === 'table' ? printList(reasons) : await formatDocument(reasons, options.output));
    return;
  }
  const reason = explain(findPod(model, wanted, namespace));
  io.print(options.output === 'table' ? printReason(reason) : await formatDocument(reason, options.output));
}

function pendingPods({ pods }: ClusterModel, namespace: string | undefined): readonly Pod[] {
  return pods.filter(
    ({ spec, status, namespace: own }) =>
      (spec.nodeName ?? '') === '' &&
      (status.phase ?? 'Pending') === 'Pending' &&
      (namespace === undefined || own === namespace),
  );
}

function printReason({ pod, because, nodes, explanations }: PendingReason): string {
  return joinParts([
    printLine(`${pod}: ${because.text}`),
    reasonTable(nodes),
    explanations.map(({ text }) => printLine(`- ${text}`)).join(''),
  ]);
}

function printList(reasons: readonly PendingReason[]): string {
  if (reasons.length === 0) return `${NO_PENDING_PODS}\n`;
  return formatTable(['POD', 'PRIORITY', 'CODE', 'REASON'], reasons.map(listCells));
}

const STUCK: readonly string[] = ['VictimHangs', 'HigherPodCame', 'RoomTaken', 'StillRefused'];

/** An overdue preemptor needs a person, so it is named before what the scheduler will do without help. */
function listCells({ pod, priority, because, explanations }: PendingReason): readonly string[] {
  const shown = explanations.find(({ code }) => STUCK.includes(code)) ?? because;
  return [pod, String(priority), shown.code, shown.text];
}
