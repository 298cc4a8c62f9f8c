import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import { podGang } from '#shared/decide/pods/pod-gang.ts';
import { podSituation, type PodSituation } from '#shared/decide/pods/pod-situation.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { decodeManifest } from '#cli/cluster/cluster-model.ts';
import { type NamespacedName, podNotFound, splitName } from '#cli/cluster/find-pod.ts';
import { notShown, type NamespaceObjects, readOwnNamespace } from '#cli/cluster/own-namespace.ts';
import { nameOf } from '#cli/manifests/parse-manifests.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { formatFields, joinParts, printLine } from '#cli/output/table.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { type ExplainOptions, removalsOf } from './explain-disruption.ts';
import { ownerLosses } from './owner-losses.ts';
import { budgetsOf, ownerText } from './pod-facts.ts';

/** What of a pod needs rights in the whole cluster. */
const HIDDEN = 'place in the eviction order, protection, room on nodes, avoided nodes, rescheduling';

/** A pod as a person with a role in its namespace alone may see it. */
export async function explainOwnPod(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const given = splitName(wanted, 'pod', options.namespace ?? '');
  const read = await readOwnNamespace(options, io.now(), given.namespace === '' ? undefined : given.namespace);
  const manifest = read.pods.find((each) => nameOf(each) === given.name);
  const situation = situationOf(given.name, manifest?.raw, read);
  const metadata = { namespace: read.namespace, name: given.name };
  if (situation.state === 'Unknown') throw new InputError(podNotFound({ pods: [] }, metadata));
  const pod = manifest === undefined ? undefined : decodeManifest(manifest, decodePod);
  const known = { metadata, ...situation, ...(pod !== undefined && ownFacts(pod, read, io.now())) };
  await print({ ...known, notShown: notShown([HIDDEN, ...read.refused].join(', ')) }, options, io);
}

/** A pod that its controller was not allowed to create; `false` if no Event says so. */
export async function explainRefusedPod(
  metadata: NamespacedName,
  options: ExplainOptions,
  io: ProcessIo,
): Promise<boolean> {
  const read = await readOwnNamespace(options, io.now(), metadata.namespace);
  const situation = situationOf(metadata.name, undefined, read);
  if (situation.state === 'Refused') await print({ metadata, ...situation }, options, io);
  return situation.state === 'Refused';
}

async function print(facts: OwnFacts, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const answer = { document: objectDocument('PodExplanation', facts), table: () => printOwn(facts) };
  io.print(await formatAnswer(answer, options.output));
}

/** What is the matter with a pod, from its namespace alone. */
export function situationOf(
  name: string,
  raw: unknown,
  { namespace, events, removals }: Pick<NamespaceObjects, 'namespace' | 'events' | 'removals'>,
): PodSituation {
  const own = removalsOf({ namespace, name }, { disruptions: removals });
  return podSituation({ name, raw, events, removals: own });
}

function ownFacts(pod: Pod, { pods, budgets, removals }: NamespaceObjects, now: number) {
  const gang = podGang(
    pod,
    pods.map((each) => decodeManifest(each, decodePod)),
  );
  return {
    ...(gang !== undefined && { gang }),
    priority: pod.spec.priority ?? 0,
    priorityClassName: pod.spec.priorityClassName ?? '',
    qosClass: reportedQosClass(pod),
    node: pod.spec.nodeName ?? '',
    owner: ownerText(pod),
    disruptionBudgets: budgetsOf(
      budgets.map((each) => decodeManifest(each, decodeBudget)),
      pod,
    ),
    removals: ownerLosses({ disruptions: removals }, pod, now),
  };
}

type OwnFacts = PodSituation &
  Partial<ReturnType<typeof ownFacts>> & {
    readonly metadata: NamespacedName;
    readonly notShown?: string;
  };

function printOwn({
  metadata: { namespace, name },
  state,
  because,
  events,
  notShown: hidden,
  ...facts
}: OwnFacts): string {
  const fields = formatFields([
    ['Pod', `${namespace}/${name}`],
    ['State', state],
    ['Reason', because.text],
    ['Priority', facts.priority],
    ['Priority class', facts.priorityClassName],
    ['QoS class', facts.qosClass],
    ['Node', facts.node],
    ['Owner', facts.owner],
    ['Gang', facts.gang],
    ['Disruption budgets', facts.disruptionBudgets],
    ['Events', events.map(({ code, text }) => `${code}: ${text}`)],
    ['Removed pods of its owner', facts.removals],
  ]);
  return joinParts([fields, hidden === undefined ? '' : printLine(hidden)]);
}
