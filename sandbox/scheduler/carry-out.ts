import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import { type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { PODS, resourcePath } from '#shared/kube/resource.ts';
import type { Placement } from './plan-round.ts';

export const SCHEDULER_NAME = 'default-scheduler';

export interface SchedulerPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly events: EventRecorder;
}

/** Carries out the plan for one pod. A refusal is logged, and the next round plans again. True if it succeeded. */
export async function carryOut(ports: SchedulerPorts, placement: Placement): Promise<boolean> {
  const outcome = await act(ports, placement);
  if (outcome.kind === 'ok' || outcome.kind === 'notFound') return outcome.kind === 'ok';
  const { namespace, name } = placement.pod;
  ports.log.warn({ pod: { namespace, name }, placement: placement.kind, message: outcome.message }, 'Pod not placed');
  return false;
}

function act(ports: SchedulerPorts, placement: Placement): Promise<Outcome<unknown>> {
  switch (placement.kind) {
    case 'bind':
      return bind(ports, placement.pod, placement.node);
    case 'preempt':
      return preempt(ports, placement);
    case 'wait':
      return tellWhy(ports, placement.pod, placement.message);
  }
}

async function bind({ client, events }: SchedulerPorts, pod: Pod, node: string): Promise<Outcome<unknown>> {
  const { namespace, name, uid } = pod;
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  };
  const path = resourcePath(PODS, { namespace, name, subresource: 'binding' });
  const outcome = await client.request({ method: 'POST', path, body: binding });
  if (outcome.kind === 'ok') {
    const note = `Successfully assigned ${namespace}/${name} to ${node}`;
    events.record({ regarding: podReference(pod), type: 'Normal', reason: 'Scheduled', note, action: 'Binding' });
  }
  return outcome;
}

/** As kube-scheduler: mark each victim, delete it with its own grace, then nominate. */
async function preempt(
  ports: SchedulerPorts,
  { pod, node, victims, message }: Extract<Placement, { kind: 'preempt' }>,
): Promise<Outcome<unknown>> {
  for (const victim of victims.filter(({ deletion }) => deletion === undefined)) {
    const outcome = await removeVictim(ports, victim, pod, node);
    if (outcome.kind !== 'ok' && outcome.kind !== 'notFound') return outcome;
  }
  return tellWhy(ports, pod, message, node);
}

async function removeVictim(ports: SchedulerPorts, victim: Pod, pod: Pod, node: string): Promise<Outcome<unknown>> {
  const { client, events, clock } = ports;
  const { namespace, name, uid } = victim;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`,
    lastTransitionTime: new Date(clock.now()).toISOString(),
  };
  const marked = await patchStatus(client, victim, { conditions: [condition] });
  if (marked.kind !== 'ok') return marked;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  const deleted = await client.request({ method: 'DELETE', path: resourcePath(PODS, { namespace, name }), body });
  if (deleted.kind === 'ok') {
    const note = `Preempted by pod ${pod.uid} on node ${node}`;
    events.record({ regarding: podReference(victim), type: 'Normal', reason: 'Preempted', note, action: 'Preempting' });
  }
  return deleted;
}

async function tellWhy(ports: SchedulerPorts, pod: Pod, message: string, nominatedNodeName?: string) {
  const lastTransitionTime = new Date(ports.clock.now()).toISOString();
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
  const nomination = nominatedNodeName === undefined ? {} : { nominatedNodeName };
  const outcome = await patchStatus(ports.client, pod, { ...nomination, conditions: [condition] });
  const about = {
    regarding: podReference(pod),
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
  } as const;
  if (outcome.kind === 'ok') ports.events.record({ ...about, note: message });
  return outcome;
}

function patchStatus(client: KubeClient, pod: Pod, status: object): Promise<Outcome<unknown>> {
  const address = { resource: PODS, namespace: pod.namespace, name: pod.name, subresource: 'status' };
  return patchObject(client, address, { metadata: { uid: pod.uid }, status }, { type: 'strategic' });
}
