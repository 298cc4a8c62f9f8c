import { ageText } from '#shared/domain/model/texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { CLUSTER_RESOURCES, clusterModel, type ClusterModel } from '#cli/cluster/cluster-model.ts';
import { findPod } from '#cli/cluster/find-pod.ts';
import { readManifests } from '#cli/cluster/read-manifests.ts';
import { reasonTable, formatTable, joinParts, printLine } from '#cli/output/table.ts';
import { type Answer, formatAnswer, listDocument, objectDocument } from '#cli/output/answer.ts';
import type { OutputFormat } from '#cli/output/output-option.ts';
import type { ProcessIo } from '#cli/process-io.ts';
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
  const answer =
    wanted === undefined
      ? listAnswer(pendingPods(model, options.allNamespaces ? undefined : namespace).map(explain), options, read.now)
      : podAnswer(explain(findPod(model, wanted, namespace)));
  io.print(await formatAnswer(answer, options.output));
}

function podAnswer(reason: PendingReason): Answer {
  return { document: objectDocument(KIND, reason), table: () => printReason(reason), names: [nameOf(reason)] };
}

function listAnswer(reasons: readonly PendingReason[], { allNamespaces }: WhyNotOptions, now: Instant): Answer {
  return {
    document: listDocument(KIND, reasons),
    table: () => printList(reasons, allNamespaces, now),
    names: reasons.map(nameOf),
  };
}

function nameOf({ metadata }: PendingReason): string {
  return `pod/${metadata.name}`;
}

const KIND = 'PendingPod';

function pendingPods({ pods }: ClusterModel, namespace: string | undefined): readonly Pod[] {
  return pods.filter(
    ({ spec, status, namespace: own }) =>
      (spec.nodeName ?? '') === '' &&
      (status.phase ?? 'Pending') === 'Pending' &&
      (namespace === undefined || own === namespace),
  );
}

function printReason({ metadata, because, nodes, explanations }: PendingReason): string {
  return joinParts([
    printLine(`${metadata.namespace}/${metadata.name}: ${because.text}`),
    reasonTable(nodes),
    explanations.map(({ text }) => printLine(`- ${text}`)).join(''),
  ]);
}

/** As with kubectl, the namespace stands first where there are several. */
function printList(reasons: readonly PendingReason[], allNamespaces: boolean, now: Instant): string {
  if (reasons.length === 0) return `${NO_PENDING_PODS}\n`;
  const header = ['NAME', 'PRIORITY', 'CODE', 'AGE', 'REASON'];
  if (!allNamespaces)
    return formatTable(
      header,
      reasons.map((reason) => listCells(reason, now)),
    );
  const rows = reasons.map((reason) => [reason.metadata.namespace, ...listCells(reason, now)]);
  return formatTable(['NAMESPACE', ...header], rows);
}

const STUCK: readonly string[] = ['VictimHangs', 'HigherPodCame', 'RoomTaken', 'StillRefused'];

/** An overdue preemptor needs a person, so it is named before what the scheduler will do without help. */
function listCells({ metadata, priority, because, explanations }: PendingReason, now: Instant): readonly string[] {
  const shown = explanations.find(({ code }) => STUCK.includes(code)) ?? because;
  const { name, creationTimestamp } = metadata;
  const created = creationTimestamp === undefined ? undefined : Date.parse(creationTimestamp);
  return [name, String(priority), shown.code, ageText(created, now), shown.text];
}
