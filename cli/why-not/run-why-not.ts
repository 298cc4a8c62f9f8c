import { otherGates } from '#shared/kube/annotations/annotations.ts';
import { ageText, podName } from '#shared/domain/base/texts.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';
import { type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { situationOf } from '#cli/explain/own-pod.ts';
import { nameOf as nameOfManifest } from '#cli/manifests/parse-manifests.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { CLUSTER_RESOURCES, clusterModel, type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import { findPod, splitName } from '#cli/cluster/find-pod.ts';
import { notShown, orInOwnNamespace, readOwnNamespace } from '#cli/cluster/own-namespace.ts';
import { readWithQueues } from '#cli/cluster/read-manifests.ts';
import { tellIfEmpty } from '#cli/cluster/show-list.ts';
import { reasonTable, joinParts, printLine } from '#cli/output/table.ts';
import { type CommandAnswer, formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { formatListing, type Listing, type ListingOptions } from '#cli/output/listing.ts';
import { isTable } from '#cli/output/output-option.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { NAME_AMONG_OTHERS, NO_PENDING_PODS } from './messages.ts';
import { queueReasons } from './queue-reasons.ts';
import { ownReason, pendingReason, type PendingReason } from './pending-reason.ts';

export interface WhyNotOptions extends ClusterOptions, ListingOptions {
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  readonly extender: boolean;
  readonly selector?: Selector;
}

/** Carries out `plimsoll why-not`: one pod in detail, or one line per pending pod. */
export async function runWhyNot(wanted: string | undefined, options: WhyNotOptions, io: ProcessIo): Promise<void> {
  if (wanted !== undefined && (options.allNamespaces || options.selector !== undefined))
    throw new InputError(NAME_AMONG_OTHERS);
  const wide = () => whyNotInCluster(wanted, options, io);
  if (options.allNamespaces || options.filename !== undefined) await wide();
  else await orInOwnNamespace(wide, () => whyNotInNamespace(wanted, options, io));
}

async function whyNotInCluster(wanted: string | undefined, options: WhyNotOptions, io: ProcessIo): Promise<void> {
  const read = await readWithQueues(options, CLUSTER_RESOURCES, io);
  const model = clusterModel(read);
  const namespace = options.namespace ?? read.namespace;
  const setup = { extender: options.extender, budgets: 'BestEffort', now: read.now } as const;
  const queueReason = queueReasons(read);
  const explain = (pod: Pod) => {
    const key = podName(pod);
    const reason = pendingReason(model, pod, setup);
    const isInQueue = otherGates(model.podManifests.get(key)?.raw ?? {}) !== undefined;
    const because = isInQueue && reason.because.code !== 'Terminating' ? queueReason(key) : undefined;
    return because === undefined ? reason : { ...reason, because };
  };
  if (wanted !== undefined) {
    io.print(await formatAnswer(podAnswer(explain(findPod(model, wanted, namespace))), options.output));
    return;
  }
  await printPending(
    pendingPods(model, options.allNamespaces ? undefined : namespace),
    explain,
    { ...options, now: read.now },
    io,
  );
}

/** Nodes and pods of other namespaces are not known: the reasons are those that the pods carry. */
async function whyNotInNamespace(wanted: string | undefined, options: WhyNotOptions, io: ProcessIo): Promise<void> {
  const given = wanted === undefined ? undefined : splitName(wanted, 'pod', options.namespace ?? '');
  const read = await readOwnNamespace(options, io.now(), given?.namespace || options.namespace);
  const pods = read.pods.map((each) => decodeManifest(each, decodePod));
  const raws = new Map(read.pods.map((each) => [nameOfManifest(each), each.raw]));
  const explain = (pod: Pod) => ownReason(pod, situationOf(pod.name, raws.get(pod.name), read));
  if (isTable(options.output)) io.tell(`Warning: ${notShown('nodes, and pods of other namespaces in the way')}`);
  if (given === undefined)
    await printPending(pendingPods({ pods }, read.namespace), explain, { ...options, now: io.now() }, io);
  else io.print(await formatAnswer(podAnswer(explain(findPod({ pods }, given.name, read.namespace))), options.output));
}

async function printPending(
  pending: readonly Pod[],
  explain: (pod: Pod) => PendingReason,
  options: WhyNotOptions & { readonly now: Instant },
  io: ProcessIo,
): Promise<void> {
  const selected = pending.filter(({ labels }) => options.selector?.matches(labels) ?? true);
  const list = listing(selected.map(explain), options.allNamespaces, options.now);
  tellIfEmpty(list, NO_PENDING_PODS, options, io);
  io.print(await formatListing(list, options));
}

function podAnswer(reason: PendingReason): CommandAnswer {
  return { document: objectDocument(KIND, reason), table: () => printReason(reason), names: [nameOf(reason)] };
}

function nameOf({ metadata }: PendingReason): string {
  return `pod/${metadata.name}`;
}

const KIND = 'PendingPod';

function pendingPods({ pods }: Pick<ClusterModel, 'pods'>, namespace: string | undefined): readonly Pod[] {
  return pods.filter(
    ({ spec, status, namespace: own }) =>
      !isBound({ spec }) && (status.phase ?? 'Pending') === 'Pending' && (namespace === undefined || own === namespace),
  );
}

function printReason({ metadata, because, nodes, explanations }: PendingReason): string {
  return joinParts([
    printLine(`${metadata.namespace}/${metadata.name}: ${because.text}`),
    reasonTable(nodes),
    explanations.map(({ text }) => printLine(`- ${text}`)).join(''),
  ]);
}

/** As with kubectl, the namespace comes first if there may be several. */
function listing(rows: readonly PendingReason[], ofAll: boolean, now: Instant): Listing<PendingReason> {
  return {
    kind: KIND,
    rows,
    itemOf: (row) => row,
    nameOf,
    columns: [
      ...(ofAll ? [{ header: 'NAMESPACE', cell: ({ metadata }: PendingReason) => metadata.namespace }] : []),
      { header: 'NAME', cell: ({ metadata }) => metadata.name },
      { header: 'PRIORITY', cell: ({ priority }) => String(priority) },
      { header: 'CODE', cell: (row) => shownReason(row).code },
      { header: 'AGE', cell: ({ metadata }) => ageText(created(metadata), now), isAge: true },
      { header: 'REASON', cell: (row) => shownReason(row).text },
    ],
  };
}

function created({ creationTimestamp }: PendingReason['metadata']): Instant | undefined {
  return creationTimestamp === undefined ? undefined : Date.parse(creationTimestamp);
}

const STUCK: readonly string[] = ['VictimHangs', 'HigherPodCame', 'RoomTaken', 'StillRefused'];

/** An overdue preemptor needs manual action, so it comes before what the scheduler will do by itself. */
function shownReason({ because, explanations }: PendingReason): PendingReason['because'] {
  return explanations.find(({ code }) => STUCK.includes(code)) ?? because;
}
