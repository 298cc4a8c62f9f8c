import { readFileSync } from 'node:fs';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  type Amounts,
  NO_AMOUNTS,
  addQuantities,
  compareQuantities,
  quantityFromInteger,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { at } from '#test/contract/harness.ts';

/** What happened to the pods of a cluster, one after the other; `pod` is `namespace/name`. */
export type PodEvent =
  | { readonly kind: 'created'; readonly pod: Pod }
  | { readonly kind: 'bound'; readonly pod: string; readonly node: string }
  | { readonly kind: 'removed'; readonly pod: string; readonly isPreemption: boolean };

/**
 * The preemptions of a history that no pending pod of higher priority needed at that moment (S1-31): there was none, or it
 * fitted without, or removing pods from that node would not have helped it. A removed pod counts as gone at once.
 */
export function needlessPreemptions(nodes: readonly Node[], history: readonly PodEvent[]): readonly string[] {
  const pods = new Map<string, Pod>();
  return history.flatMap((event) => {
    const pod = event.kind === 'removed' && event.isPreemption ? pods.get(event.pod) : undefined;
    const isNeedless = pod !== undefined && !isNeeded(nodes, [...pods.values()], pod);
    carryOut(pods, event);
    return isNeedless ? [`${pod.namespace}/${pod.name}`] : [];
  });
}

function carryOut(pods: Map<string, Pod>, event: PodEvent): void {
  if (event.kind === 'created') pods.set(`${event.pod.namespace}/${event.pod.name}`, event.pod);
  if (event.kind === 'removed') pods.delete(event.pod);
  if (event.kind !== 'bound') return;
  const pod = pods.get(event.pod);
  if (pod !== undefined) pods.set(event.pod, { ...pod, spec: { ...pod.spec, nodeName: event.node } });
}

/** By the sums of requests alone: what these clusters are short of is resources. */
function isNeeded(nodes: readonly Node[], pods: readonly Pod[], victim: Pod): boolean {
  const isHigher = ({ spec }: Pod) => spec.nodeName === undefined && (spec.priority ?? 0) > (victim.spec.priority ?? 0);
  return pods.filter(isHigher).some((pod) => {
    const rest = pods.filter(({ spec }) => (spec.priority ?? 0) >= (pod.spec.priority ?? 0));
    const open = nodes.filter(({ labels }) =>
      Array.from(pod.spec.scheduling.nodeSelector).every(([key, value]) => labels.get(key) === value),
    );
    const fitsNowhere = !open.some((node) => fits(node, pods, pod));
    return fitsNowhere && open.some((node) => node.name === victim.spec.nodeName && fits(node, rest, pod));
  });
}

function fits({ name, allocatable }: Node, pods: readonly Pod[], pod: Pod): boolean {
  const here = [...pods.filter(({ spec }) => spec.nodeName === name), pod];
  const slots = allocatable.get('pods');
  const hasSlot = slots === undefined || compareQuantities(slots, quantityFromInteger(here.length, 'DecimalSI')) >= 0;
  const isEnough = Array.from(requestsOf(pod)).every(([resource, amount]) => {
    if (compareQuantities(amount, ZERO) === 0) return true;
    const sum = here.reduce((total, each) => addQuantities(total, requestsOf(each).get(resource) ?? ZERO), ZERO);
    return compareQuantities(allocatable.get(resource) ?? ZERO, sum) >= 0;
  });
  return hasSlot && isEnough;
}

/** These pods have one container each. */
function requestsOf({ spec: { containers } }: Pod): Amounts {
  return containers[0]?.resources.requests ?? NO_AMOUNTS;
}

const SCHEDULER = 'system:kube-scheduler';

/** The history that the audit log of an API server holds. */
export function readPodHistory(auditLog: string): readonly PodEvent[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const event = podEvent(JSON.parse(line));
    return event === undefined ? [] : [event];
  });
}

function podEvent(entry: unknown): PodEvent | undefined {
  const isAccepted = Number(at(entry, 'responseStatus.code')) < 300;
  if (at(entry, 'objectRef.resource') !== 'pods' || !isAccepted) return undefined;
  const pod = `${String(at(entry, 'objectRef.namespace'))}/${String(at(entry, 'objectRef.name'))}`;
  switch (verbOf(entry)) {
    case 'create':
      return { kind: 'created', pod: decodeWith(decodePod)(at(entry, 'responseObject')) };
    case 'create binding':
      return { kind: 'bound', pod, node: String(at(entry, 'requestObject.target.name')) };
    case 'delete':
      return { kind: 'removed', pod, isPreemption: at(entry, 'user.username') === SCHEDULER };
    default:
      return undefined;
  }
}

/** The verb, with the subresource if there is one. */
function verbOf(entry: unknown): string {
  return [at(entry, 'verb'), at(entry, 'objectRef.subresource')].filter(Boolean).join(' ');
}

const READS = ['get', 'list', 'watch'];

/** The writes about pods of a process, by the name that it gives itself. */
export function podWritesOf(auditLog: string, userAgent: string): readonly string[] {
  const entries = readFileSync(auditLog, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
  return entries.flatMap((entry) => {
    const isPodWrite = at(entry, 'objectRef.resource') === 'pods' && !READS.includes(String(at(entry, 'verb')));
    if (!isPodWrite || at(entry, 'userAgent') !== userAgent) return [];
    return [verbOf(entry)];
  });
}
