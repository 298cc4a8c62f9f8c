import { randomUUID } from 'node:crypto';
import { type Admitted, encodeAdmitted } from '#shared/api/admitted.ts';
import { type Because, reason } from '#shared/domain/base/because.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { ANNOTATION_ADMITTED, COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { ownerWishes } from '#shared/kube/annotations/annotations.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { Failure, FailureKind } from '#shared/kube/client/outcome.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { isWaiting, type QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { requestEach } from './open-requests.ts';
import type { QueueMetrics } from './queue-metrics.ts';

export interface LetInPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly pods: QueuedPods;
  readonly classOf: (name: string) => AnnotatedClass | undefined;
  readonly metrics: QueueMetrics;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  /** The pods that could not be changed. */
  readonly refused: Map<string, Refusal>;
}

/** The API server took no change of a pod. */
export interface Refusal {
  readonly because: Because;
  /** By the monotonic clock: when to retry. */
  readonly until: number;
  readonly pauseMs: number;
}

/** Passes may run ten times a second, and an obstacle to a change rarely disappears by the next pass. Pauses double. */
const PAUSES = { refused: { firstMs: 10_000, mostMs: 300_000 }, fault: { firstMs: 1_000, mostMs: 30_000 } } as const;
/** What says nothing about the pod, and passes by itself. */
const FAULTS: ReadonlySet<FailureKind> = new Set(['unreachable', 'timeout', 'tooManyRequests', 'serverError']);
const MAX_REFUSED = 10_000;
/** Pods per plan. The next plan takes the rest, so that a more important pod does not wait for a long list. */
const MAX_OF_PLAN = 1_000;
const WRITE = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/** Removes gates in the order of the plan. A failed removal stays for the next plan. */
export async function letPodsIn(
  plan: Pick<QueuePlan, 'letIn' | 'released'>,
  ports: LetInPorts,
  signal: AbortSignal,
): Promise<void> {
  const decision = randomUUID();
  const all: readonly Pick<WaitingPod, 'uid' | 'queue' | 'against' | 'letInAs'>[] = [
    ...plan.released.map(({ uid }) => ({ uid, queue: '' })),
    ...plan.letIn,
  ];
  const now = all.filter(({ uid }) => mayTry(uid, ports)).slice(0, MAX_OF_PLAN);
  await requestEach(now, async ({ uid, queue, against, letInAs: gang }) => {
    if (signal.aborted || !ports.term.isHeld()) return false;
    const into = { queue, decision, ...(against !== undefined && { against }), ...(gang !== undefined && { gang }) };
    await takeGateOff(uid, into, ports, signal);
    return true;
  });
}

function mayTry(uid: string, ports: Pick<LetInPorts, 'refused' | 'clock'>): boolean {
  return refusalOf(uid, ports) === undefined;
}

/** Why a pod is not let in before its next attempt. Meanwhile its share is free for others. */
export function refusalOf(
  uid: string,
  { refused, clock }: { readonly refused: LetInPorts['refused']; readonly clock: Pick<Clock, 'monotonic'> },
): Because | undefined {
  const refusal = refused.get(uid);
  return refusal !== undefined && refusal.until > clock.monotonic() ? refusal.because : undefined;
}

const REFUSED = reason<{ readonly kind: string; readonly message: string }>(
  'CannotBeLetIn',
  ({ message }) => `the API server refuses to let it in: ${message}`,
);

function nextRefusal(before: Refusal | undefined, now: number, { kind, message }: Failure): Refusal {
  const { firstMs, mostMs } = FAULTS.has(kind) ? PAUSES.fault : PAUSES.refused;
  const pauseMs = before === undefined ? firstMs : Math.min(2 * before.pauseMs, mostMs);
  return { because: REFUSED({ kind, message }, { kind }), until: now + pauseMs, pauseMs };
}

type Into = Pick<Admitted, 'queue' | 'decision' | 'against' | 'gang'>;

/**
 * One patch, for exactly the pod that was read: its UID and resourceVersion are preconditions. So neither a successor
 * nor a pod that has changed is let in.
 */
async function takeGateOff(uid: string, into: Into, ports: LetInPorts, signal: AbortSignal): Promise<void> {
  const { client, clock, pods, metrics, log } = ports;
  const pod = pods.get(uid);
  if (pod === undefined || !isWaiting(pod)) return;
  const admitted = admittedOf(pod, into, ports);
  const address = { resource: PODS, namespace: pod.namespace, name: pod.name };
  const outcome = await patchObject(client, address, patchOf(pod, admitted), { ...WRITE, signal });
  metrics.gates.add({ outcome: outcome.kind });
  const name = `${pod.namespace}/${pod.name}`;
  if (outcome.kind === 'ok') {
    faultLog(log, 'Pod not let in').worked(name);
    pods.letIn(pod.uid, admitted);
    ports.refused.delete(uid);
    metrics.waited.observe(Math.max(0, admitted.at - pod.createdAt) / 1_000);
  } else if (outcome.kind !== 'conflict' && outcome.kind !== 'notFound') {
    putBounded(ports.refused, MAX_REFUSED, [uid, nextRefusal(ports.refused.get(uid), clock.monotonic(), outcome)]);
    faultLog(log, 'Pod not let in').failed(name, outcome);
  }
}

function admittedOf(pod: QueuedPod, into: Into, { classOf, clock }: LetInPorts): Admitted {
  const priorityClass = classOf(pod.className ?? '');
  return {
    ...into,
    application: pod.application,
    mayPreempt: !pod.neverPreempts,
    mayBePreempted: ownerWishes(pod.wishes, priorityClass?.annotations).mayBePreempted,
    at: clock.now(),
  };
}

function patchOf(pod: QueuedPod & { readonly otherGates: readonly string[] }, admitted: Admitted): object {
  const { uid, resourceVersion, otherGates } = pod;
  const annotations = { [ANNOTATION_ADMITTED]: encodeAdmitted(admitted) };
  const schedulingGates = otherGates.length === 0 ? null : otherGates.map((name) => ({ name }));
  return { metadata: { uid, resourceVersion, annotations }, spec: { schedulingGates } };
}
