import { readFileSync } from 'node:fs';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { planPreemption } from '#shared/domain/preemption/plan/plan-preemption.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
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

function isNeeded(nodes: readonly Node[], pods: readonly Pod[], victim: Pod): boolean {
  const snapshot = createSnapshot({ nodes, pods });
  const isHigher = ({ spec }: Pod) => spec.nodeName === undefined && (spec.priority ?? 0) > (victim.spec.priority ?? 0);
  return pods.filter(isHigher).some((pod) => {
    const plan = planPreemption(snapshot, pod);
    return plan.kind === 'preempt' && plan.candidates.some(({ node }) => node === victim.spec.nodeName);
  });
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
  switch ([at(entry, 'verb'), at(entry, 'objectRef.subresource')].filter(Boolean).join(' ')) {
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
