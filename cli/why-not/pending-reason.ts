import { podName } from '#shared/domain/base/texts.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { explainStuckPreemptor } from '#shared/domain/preemption/explain/explain-stuck-preemptor.ts';
import type { ReasonGroup } from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import type { Simulation } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import { podSituation, type PodSituation } from '#shared/decide/pods/pod-situation.ts';
import { headline } from '#shared/decide/simulation/messages.ts';
import type { SchedulerSetup } from '#shared/decide/simulation/placement.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { ClusterModel } from '#cli/cluster/cluster-model.ts';
import type { Metadata } from '#cli/output/answer.ts';
import { placementOf } from '#cli/cluster/placement.ts';
import { spareShortages } from './spare-room.ts';
import { fitsNow, neverPreempts, otherScheduler, scheduled } from './messages.ts';

/** Why a pod is not on a node. */
export interface PendingReason {
  readonly metadata: Required<Metadata> & { readonly creationTimestamp: string | undefined };
  readonly priority: number;
  readonly because: Because;
  /** Why it is not placed on each node. */
  readonly nodes: readonly ReasonGroup[];
  /** Pods in the way, victims that hang, and who else must act. */
  readonly explanations: readonly Because[];
}

const DEFAULT_SCHEDULER = 'default-scheduler';

/** Why the pod is not on a node, with what kube-scheduler would do about it. */
export function pendingReason(
  model: ClusterModel,
  pod: Pod,
  setup: Omit<SchedulerSetup, 'nominatedSince'>,
): PendingReason {
  const raw = model.podManifests.get(podName(pod))?.raw;
  const known = podSituation({ name: pod.name, raw, events: [], removals: [] });
  if (!isSchedulersTurn(known)) return { ...identity(pod), because: known.because, nodes: [], explanations: [] };
  const { simulation, otherNodes, explanations, state } = placementOf(model, pod, setup);
  const stuck = explainStuckPreemptor(state, setup.now);
  const unmodelled = explanations.find(({ code }) => code === 'OutsideTheModel');
  return {
    ...identity(pod),
    because: simulation.kind === 'fits' && unmodelled !== undefined ? unmodelled : outcomeOf(simulation, pod),
    nodes: otherNodes,
    explanations: [
      ...(stuck === undefined ? [] : [stuck]),
      ...spareShortages(pod, model),
      ...explanations,
      ...statements(raw, known.because),
    ],
  };
}

/** The same from the pod's own namespace alone. */
export function ownReason(pod: Pod, { because: own, events }: PodSituation): PendingReason {
  return { ...identity(pod), because: own, nodes: [], explanations: events };
}

function outcomeOf(simulation: Simulation, pod: Pod): Because {
  if (simulation.kind === 'fits') return because('Fits', fitsNow(simulation.nodes.length));
  const { code, facts, text } = simulation.because;
  if (code === 'neverPreempts') return because('NeverPreempts', neverPreempts(pod.spec.priorityClassName ?? ''));
  return { code, facts, text: `${headline('it', simulation)}: ${text}` };
}

function isSchedulersTurn({ state, because: { code } }: PodSituation): boolean {
  return state === 'Waits' && (code === 'NotTried' || code === 'Unschedulable');
}

function statements(raw: unknown, { code, text }: Because): readonly Because[] {
  const scheduler = fieldOf(fieldOf(raw, 'spec'), 'schedulerName');
  const isOther = typeof scheduler === 'string' && scheduler !== '' && scheduler !== DEFAULT_SCHEDULER;
  return [
    ...(isOther ? [because('OtherScheduler', otherScheduler(scheduler))] : []),
    ...(code === 'Unschedulable' ? [because('LastAttempt', scheduled(text))] : []),
  ];
}

function identity({ namespace, name, createdAt, spec }: Pod): Pick<PendingReason, 'metadata' | 'priority'> {
  const creationTimestamp = createdAt === undefined ? undefined : new Date(createdAt).toISOString();
  return { metadata: { namespace, name, creationTimestamp }, priority: spec.priority ?? 0 };
}

function because(code: string, text: string): Because {
  return { code, text, facts: {} };
}
