import { resourceOf, type Observation, wholeQuantity, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import { type EventRecord, podReference } from '#shared/kube/events/event-recorder.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { EVENTS } from '#agent/messages.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Container, Pod } from '#shared/domain/pod/pod.ts';
import { hasPodLevelResources } from '#shared/domain/pod/pod-requests.ts';
import { type Quantity, compareQuantities, ZERO } from '#shared/domain/quantity/quantity.ts';
import { amountOf, type Threshold } from '#shared/domain/pressure/threshold.ts';
import type { ContainerUsage, PodUsage } from '#shared/domain/ranking/pod-usage.ts';

/** The node that Events refer to. */
export interface NodeReference {
  readonly name: string;
  readonly uid: string | undefined;
}

function nodeReference({ name, uid }: NodeReference) {
  return { apiVersion: 'v1', kind: 'Node', name, ...(uid === undefined ? {} : { uid }) };
}

function inMode(text: string, mode: Mode): string {
  return mode === 'DryRun' ? EVENTS.dryRun(text) : text;
}

/** Event on the node when a pod is evicted because of a shortage; the kubelet's message. */
export function thresholdMetEvent(node: NodeReference, { signal, mode }: Eviction): EventRecord {
  return {
    regarding: nodeReference(node),
    type: 'Warning',
    reason: EVENT_REASONS.thresholdMet,
    note: inMode(EVENTS.thresholdMet(resourceOf(signal)), mode),
    action: 'Reclaiming',
  };
}

const TAKEN: readonly AttemptOutcome['kind'][] = ['evicted', 'pretended', 'foundEnding'];
const SILENT: readonly AttemptOutcome['kind'][] = [
  'notFound',
  'uidMismatch',
  'overtaken',
  'relieved',
  'unconfirmed',
  'foundGone',
  'foundPreempted',
  'timeout',
  'unreachable',
  'serverError',
];

/** Type and reason of an Event on a pod. Events of a dry run must not count as evictions or failures. */
function kindInMode(reason: string, mode: Mode): Pick<EventRecord, 'type' | 'reason'> {
  return mode === 'DryRun' ? { type: 'Normal', reason: EVENT_REASONS.evictionDryRun } : { type: 'Warning', reason };
}

/** Event on the pod: the kubelet's eviction message, or why the eviction failed. None while the outcome is unknown. */
export function outcomeEvent(
  { pod, mode }: Eviction,
  outcome: AttemptOutcome,
  message: EvictionMessage,
): EventRecord | undefined {
  if (SILENT.includes(outcome.kind)) return undefined;
  const isTaken = TAKEN.includes(outcome.kind);
  const failure = 'message' in outcome ? outcome.message : outcome.kind;
  return {
    regarding: podReference(pod),
    ...kindInMode(isTaken ? EVENT_REASONS.evicted : EVENT_REASONS.evictionFailed, mode),
    note: inMode(isTaken ? message.text : EVENTS.cannotEvict(failure), mode),
    action: 'Evicting',
    ...(isTaken && message.annotations !== undefined ? { annotations: message.annotations } : {}),
  };
}

/** Event on a pod that stays and because of which no other is evicted: its owner is at its limit, or it causes the shortage. */
export function notEvictedEvent({ text, facts }: Because, mode: Mode): EventRecord {
  const { namespace, pod, uid } = facts;
  return {
    regarding: podReference({ namespace: String(namespace), name: String(pod), uid: String(uid) }),
    ...kindInMode(EVENT_REASONS.evictionFailed, mode),
    note: inMode(EVENTS.notEvicted(text), mode),
    action: 'Evicting',
  };
}

/** Event on the node when the circuit breaker stops evictions. */
export function ineffectiveEvent(node: NodeReference, text: string): EventRecord {
  return {
    regarding: nodeReference(node),
    type: 'Warning',
    reason: EVENT_REASONS.evictionIneffective,
    note: text,
    action: 'Stopping',
  };
}

/**
 * The kubelet's message about a victim. `containers` are measured only for the chosen victim. If a pod is so young that
 * the IDs of its containers are unknown, the message has empty lists, as the kubelet's, which never uses the pod's own
 * figure instead (`evictionMessage` in `pkg/kubelet/eviction/helpers.go` iterates over `podStats.Containers`).
 */
export function describeEviction(
  { signal, threshold, observed, pod, usage }: Eviction,
  containers: readonly ContainerUsage[],
): EvictionMessage {
  const detailed = usage === undefined || containers.length === 0 ? usage : { ...usage, containers };
  return evictionMessage({ resource: resourceOf(signal), threshold, observed }, pod, detailed);
}

/** The text about an eviction in the pod's status and in the Event. */
export interface EvictionMessage {
  readonly text: string;
  /** Annotations of the Event, with the kubelet's keys; `undefined` if the pod has no statistics. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** The cause of the eviction: the resource, the threshold and the observed value. */
export interface ObservedShortage {
  readonly resource: StarvedResource;
  readonly threshold: Threshold;
  readonly observed: Observation | undefined;
}

/** A container or pod that uses more than it requested, with both amounts as text. */
interface Offender {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

/**
 * The kubelet's words, to the last blank (`evictionMessage` in `pkg/kubelet/eviction/helpers.go`): the shortage, the
 * pod if it has a memory request of its own, then each container above its request, in the order of the statistics.
 */
export function evictionMessage(shortage: ObservedShortage, pod: Pod, usage: PodUsage | undefined): EvictionMessage {
  const opening = describeShortage(shortage);
  if (usage === undefined) return { text: opening, annotations: undefined };
  const offendingPod = podToName(shortage.resource, pod, usage);
  const containers = usage.containers.flatMap((each) => containerToBlame(shortage.resource, pod, each));
  const blames = [
    ...(offendingPod === undefined ? [] : [blame('Pod', offendingPod, shortage.resource)]),
    ...containers.map((container) => blame('Container', container, shortage.resource)),
  ];
  return { text: opening + blames.join(''), annotations: annotate(shortage.resource, offendingPod, containers) };
}

function describeShortage({ resource, threshold, observed }: ObservedShortage): string {
  const low = `The node was low on resource: ${resource}. `;
  if (observed === undefined) return low;
  const needed = formatQuantity(amountOf(threshold.value, observed));
  return `${low}Threshold quantity: ${needed}, available: ${formatQuantity(observed.available)}. `;
}

function blame(kind: 'Pod' | 'Container', { name, usage, request }: Offender, resource: StarvedResource): string {
  return `${kind} ${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `;
}

function annotate(
  resource: StarvedResource,
  pod: Offender | undefined,
  containers: readonly Offender[],
): Readonly<Record<string, string>> {
  return {
    ...(pod === undefined ? {} : { offending_pod: pod.name, offending_pod_usage: pod.usage }),
    offending_containers: containers.map(({ name }) => name).join(','),
    offending_containers_usage: containers.map(({ usage }) => usage).join(','),
    starved_resource: resource,
  };
}

/** A pod with a pod-level memory request is named even if it uses less, as the kubelet does. */
function podToName(resource: StarvedResource, pod: Pod, usage: PodUsage): Offender | undefined {
  const request = pod.spec.resources?.requests?.get(resource);
  const isNamed = resource === 'memory' && hasPodLevelResources(pod) && usage.memory !== undefined;
  if (!isNamed || request === undefined) return undefined;
  const used = wholeQuantity(usage.memory.workingSetBytes ?? 0, 'BinarySI');
  return { name: pod.name, usage: formatQuantity(used), request: formatQuantity(request) };
}

function containerToBlame(resource: StarvedResource, pod: Pod, usage: ContainerUsage): readonly Offender[] {
  const container = findContainer(pod, usage.name);
  const used = usedBy(resource, usage);
  if (container === undefined || used === undefined) return [];
  const request = container.resources.requests?.get(resource) ?? ZERO;
  if (compareQuantities(used, request) <= 0) return [];
  return [{ name: container.name, usage: formatQuantity(used), request: formatQuantity(request) }];
}

function findContainer(pod: Pod, name: string): Container | undefined {
  return [...pod.spec.containers, ...pod.spec.initContainers].find((container) => container.name === name);
}

/** Only memory and disk are blamed on containers; disk only if both layer and logs were measured. */
function usedBy(resource: StarvedResource, { workingSetBytes, rootfs, logs }: ContainerUsage): Quantity | undefined {
  switch (resource) {
    case 'memory':
      return workingSetBytes === undefined ? undefined : wholeQuantity(workingSetBytes, 'BinarySI');
    case 'ephemeral-storage':
      if (rootfs.usedBytes === undefined || logs.usedBytes === undefined) return undefined;
      return wholeQuantity(rootfs.usedBytes + logs.usedBytes, 'BinarySI');
    default:
      return undefined;
  }
}
