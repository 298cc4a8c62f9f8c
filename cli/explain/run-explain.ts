import { decodeAdmitted } from '#shared/api/admitted.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import { PRIORITY_QUOTAS, RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import {
  CLUSTER_RESOURCES,
  type ClusterModel,
  clusterModel,
  decodeManifest,
  decodeCountedQuota,
} from '#cli/cluster/cluster-model.ts';
import { nameOfType, objectType, type ObjectType, podNamed, podNotFound, splitName } from '#cli/cluster/find-pod.ts';
import { notShown, orInOwnNamespace } from '#cli/cluster/own-namespace.ts';
import { readQuotas } from '#cli/cluster/read-quotas.ts';
import { type ClusterManifests, readWithQueues } from '#cli/cluster/read-manifests.ts';
import { queueScene } from '#cli/simulate/queue-scene.ts';
import { queueView } from '#cli/simulate/queue-view.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { nameOf, namespaceOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { formatFields, formatTable, printLine } from '#cli/output/table.ts';
import {
  explainDisruption,
  explainGonePod,
  type ExplainOptions,
  findGonePod,
  removalsOf,
  whyNoRecord,
} from './explain-disruption.ts';
import { admittedTo, expectedObject, IN_NO_QUEUE, inQueue, noQuota } from './messages.ts';
import { explainOwnPod, explainRefusedPod } from './own-pod.ts';
import { recordsBeside } from './owner-losses.ts';
import { reschedulingOf } from './rescheduling-facts.ts';
import { namespacedQuota, podFacts, type PodFacts, quotaFacts, type QuotaFacts } from './pod-facts.ts';

/** Carries out `plimsoll explain TYPE NAME` and `plimsoll explain TYPE/NAME`. Rejects with an InputError. */
export async function runExplain(words: readonly string[], options: ExplainOptions, io: ProcessIo): Promise<void> {
  const { type, name } = readObject(words);
  await EXPLAINERS[type](name, options, io);
}

type ExplainedType = 'pod' | 'quota' | 'disruption';

const EXPLAINERS: Readonly<
  Record<ExplainedType, (name: string, options: ExplainOptions, io: ProcessIo) => Promise<void>>
> = { pod: explainPod, quota: explainQuota, disruption: explainDisruption };

/** `TYPE NAME` or `TYPE/NAME`; the name of a pod or a Disruption may begin with its namespace. */
function readObject([first = '', second]: readonly string[]): { readonly type: ExplainedType; readonly name: string } {
  const [word = '', name = ''] = second === undefined ? first.split('/', 2) : [first, second];
  const type = objectType(word);
  if (!isExplained(type) || name === '') throw new InputError(expectedObject([first, second]));
  return { type, name };
}

function isExplained(type: ObjectType | undefined): type is ExplainedType {
  return type !== undefined && type in EXPLAINERS;
}

/** For a pod that no longer exists, only its Disruptions are read. */
async function explainPod(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const gone = options.filename === undefined ? await findGonePod(wanted, options, io) : undefined;
  if (gone !== undefined) await explainGonePod(gone, options, io);
  else
    await orInOwnNamespace(
      () => explainInCluster(wanted, options, io),
      () => explainOwnPod(wanted, options, io),
    );
}

async function explainInCluster(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const read = await readWithQueues(options, CLUSTER_RESOURCES, io);
  const model = clusterModel(read);
  const fallback = options.namespace ?? read.namespace;
  const pod = podNamed(model, wanted, fallback);
  const name = splitName(wanted, 'pod', fallback);
  const records = await recordsBeside(read, { ...options, namespace: name.namespace }, io);
  if (pod !== undefined) {
    const queue = queueOfPod(pod, read, model);
    const rescheduling = await reschedulingOf(pod, { read, model, options }, io);
    return explainPresentPod(podFacts(model, pod, { now: read.now, records, queue, rescheduling }), options, io);
  }
  const removals = removalsOf(name, records);
  if (removals.length === 0) {
    const isRefused = options.filename === undefined && (await explainRefusedPod(name, options, io));
    if (isRefused) return;
    throw new InputError(`${podNotFound(model, name)}${whyNoRecord(records)}`);
  }
  return explainGonePod({ name, removals, now: read.now }, options, io);
}

/**
 * The queue of a pod and what it waits for, as the leader of the queues would decide now; `undefined` in namespaces
 * whose pods do not wait.
 */
function queueOfPod(pod: Pod, read: ClusterManifests, model: ClusterModel): string | undefined {
  if (!isManaged(model.namespaces.find(({ name }) => name === pod.namespace)?.labels)) return undefined;
  const admitted = decodeAdmitted(pod.annotations.get(ANNOTATION_ADMITTED));
  if (admitted !== undefined) return admittedTo(admitted.queue, new Date(admitted.at).toISOString());
  const view = queueView(queueScene(read));
  const key = `${pod.namespace}/${pod.name}`;
  const row = [...view.letIn, ...view.waiting].find((each) => each.pod === key);
  return row === undefined ? IN_NO_QUEUE : inQueue(row.queue === '' ? 'none' : row.queue, row.because.text);
}

async function explainPresentPod(facts: PodFacts, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const answer = { document: objectDocument('PodExplanation', facts), table: () => printPod(facts) };
  io.print(await formatAnswer(answer, options.output));
}

/** A PriorityQuota, else the ResourceQuota of that name in the namespace. */
async function explainQuota(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const { hidden, ...read } = await readQuotas(options, io);
  const name = nameOfType(wanted, 'quota');
  const facts = quotaNamed(name, read);
  if (facts === undefined) {
    const known = QUOTA_KINDS.flatMap((kind) => ofKind(read.manifests, kind)).map(nameOf);
    throw new InputError(
      [noQuota(name, known), ...(hidden.length === 0 ? [] : [notShown(hidden.join(', '))])].join('; '),
    );
  }
  const answer = { document: objectDocument('QuotaExplanation', facts), table: () => printQuota(facts) };
  io.print(await formatAnswer(answer, options.output));
}

const QUOTA_KINDS = [PRIORITY_QUOTAS, RESOURCE_QUOTAS];

function quotaNamed(name: string, { manifests, namespace }: ClusterManifests): QuotaFacts | undefined {
  const [ofCluster] = ofKind(manifests, PRIORITY_QUOTAS).filter((each) => nameOf(each) === name);
  if (ofCluster !== undefined) return quotaFacts(decodeManifest(ofCluster, decodeCountedQuota));
  const [own] = ofKind(manifests, RESOURCE_QUOTAS).filter(
    (each) => nameOf(each) === name && namespaceOf(each, namespace) === namespace,
  );
  return own && namespacedQuota(decodeManifest(own, decodeResourceQuota), namespace);
}

const POD_LABELS: readonly (readonly [Exclude<keyof PodFacts, 'metadata'>, string])[] = [
  ['priority', 'Priority'],
  ['priorityClassName', 'Priority class'],
  ['classRule', 'Class given by rule'],
  ['preemptionPolicy', 'Preemption policy'],
  ['qosClass', 'QoS class'],
  ['node', 'Node'],
  ['owner', 'Owner'],
  ['nodePressurePolicy', 'Node pressure policy'],
  ['evictionOrder', 'Place in eviction order'],
  ['protectedFromEviction', 'Protected from eviction'],
  ['protectedFromPreemption', 'Protected from preemption'],
  ['disruptionBudgets', 'Disruption budgets'],
  ['queue', 'Queue'],
  ['gang', 'Gang'],
  ['room', 'Room'],
  ['avoidedNodes', 'Avoided nodes'],
  ['rescheduling', 'Rescheduling'],
  ['removals', 'Removed pods of its owner'],
];

function printPod(facts: PodFacts): string {
  const { namespace, name } = facts.metadata;
  const fields = POD_LABELS.map(([field, label]) => [label, facts[field]] as const);
  return formatFields([['Pod', `${namespace}/${name}`], ...fields]);
}

function printQuota({ metadata, scope, resources }: QuotaFacts): string {
  const rows = resources.map(({ resource, hard, used, free, namespaces }) => {
    const largest = namespaces.map((each) => `${each.namespace} (${each.used})`).join(', ');
    return [resource, hard, used, free, largest === '' ? '<none>' : largest];
  });
  return `${printLine(`${metadata.name}: ${scope}`)}\n${formatTable(['RESOURCE', 'HARD', 'USED', 'FREE', 'LARGEST NAMESPACES'], rows)}`;
}
