import { timeText } from '#sandbox/api-server/wire/object.ts';
import {
  type ContainerRecord,
  type ContainerState,
  type Terminated,
  shallRestart,
} from '#sandbox/node/containers/container-record.ts';
import type { WireCondition, WirePodSpec } from '#sandbox/node/wire-pod.ts';

/** The source of a pod's status. Times are milliseconds since 1970. */
export interface PodFacts {
  readonly spec: WirePodSpec;
  readonly generation: number | undefined;
  readonly initContainers: readonly ContainerRecord[];
  readonly containers: readonly ContainerRecord[];
  readonly isEnding: boolean;
  readonly startTime: number;
  readonly hostIP: string;
  readonly podIP: string;
  /** Conditions as the API server has them: a time changes only with the status. */
  readonly conditions: readonly WireCondition[];
}

/** The status that a kubelet writes, as a strategic merge patch: conditions of others stay. */
export function podStatus(facts: PodFacts, now: number) {
  const phase = podPhase({ restartPolicy: facts.spec.restartPolicy ?? 'Always', ...facts });
  return {
    phase,
    observedGeneration: facts.generation,
    startTime: timeText(facts.startTime),
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    podIP: facts.podIP,
    podIPs: [{ ip: facts.podIP }],
    conditions: conditionsOf(facts, phase, now),
    containerStatuses: facts.containers.map((each) => containerStatus(each, facts)),
    ...(facts.initContainers.length > 0 && {
      initContainerStatuses: facts.initContainers.map((each) => containerStatus(each, facts)),
    }),
  };
}

function conditionsOf(facts: PodFacts, phase: PodPhase, now: number): readonly WireCondition[] {
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const isReady = facts.containers.every(({ state }) => state.kind === 'running') && !facts.isEnding;
  const unready = isOver ? reasonOfEnd(phase) : containersNotReady(facts);
  const wanted = [
    condition('PodReadyToStartContainers', !isOver),
    condition('Initialized', isInitialized(facts), containersNotInitialized(facts)),
    condition('Ready', isReady, unready),
    condition('ContainersReady', isReady, unready),
  ];
  return wanted.map((each) => ({ ...each, lastTransitionTime: transitionTime(each, facts.conditions, now) }));
}

interface Reason {
  readonly reason: string;
  readonly message?: string;
}

function condition(type: string, holds: boolean, otherwise?: Reason): WireCondition {
  return { type, status: holds ? 'True' : 'False', ...(holds ? {} : otherwise) };
}

function reasonOfEnd(phase: PodPhase): Reason {
  return { reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' };
}

function containersNotReady({ containers }: PodFacts): Reason {
  const names = containers.filter(({ state }) => state.kind !== 'running').map(({ name }) => name);
  return { reason: 'ContainersNotReady', message: `containers with unready status: [${names.join(' ')}]` };
}

function containersNotInitialized({ initContainers }: PodFacts): Reason {
  const names = initContainers.filter(({ state }) => state.kind !== 'terminated').map(({ name }) => name);
  return { reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${names.join(' ')}]` };
}

function transitionTime(wanted: WireCondition, present: readonly WireCondition[], now: number): string {
  const before = present.find(({ type }) => type === wanted.type);
  return before?.status === wanted.status ? (before.lastTransitionTime ?? timeText(now)) : timeText(now);
}

function containerStatus(record: ContainerRecord, { isEnding }: PodFacts) {
  const isRunning = record.state.kind === 'running';
  return {
    name: record.name,
    image: record.image,
    imageID: record.image,
    containerID: record.containerId ?? '',
    ready: isRunning && !isEnding,
    started: isRunning,
    restartCount: record.restarts,
    state: wireState(record.state, record.containerId),
    lastState: record.last === undefined ? {} : { terminated: terminated(record.last, record.containerId) },
  };
}

/** The other two states are named as absent, because a merge patch would keep them next to the new one. */
function wireState(state: ContainerState, containerId: string | undefined) {
  const absent = { waiting: null, running: null, terminated: null };
  switch (state.kind) {
    case 'waiting':
      return {
        ...absent,
        waiting: { reason: state.reason, ...(state.message !== undefined && { message: state.message }) },
      };
    case 'running':
      return { ...absent, running: { startedAt: timeText(state.startedAt) } };
    case 'terminated':
      return { ...absent, terminated: terminated(state, containerId) };
  }
}

function terminated(end: Terminated, containerId: string | undefined) {
  return {
    exitCode: end.exitCode,
    reason: end.reason,
    startedAt: timeText(end.startedAt),
    finishedAt: timeText(end.finishedAt),
    containerID: containerId ?? '',
  };
}

/** What the phase depends on. */
export interface PodProgress {
  readonly restartPolicy: string;
  readonly initContainers: readonly ContainerRecord[];
  readonly containers: readonly ContainerRecord[];
  /** The pod is being ended, so nothing is started again. */
  readonly isEnding: boolean;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** The phase, as in `pkg/kubelet/kubelet_pods.go` getPhase. */
export function podPhase(progress: PodProgress): PodPhase {
  if (hasFailed(progress.initContainers, progress)) return 'Failed';
  if (!isInitialized(progress)) return progress.isEnding ? 'Failed' : 'Pending';
  if (progress.containers.every((each) => isOver(each, progress))) return endPhase(progress.containers);
  return progress.containers.every(isNew) && !progress.isEnding ? 'Pending' : 'Running';
}

/** Whether every init container has ended well. */
function isInitialized({ initContainers }: Pick<PodProgress, 'initContainers'>): boolean {
  return initContainers.every(({ state }) => state.kind === 'terminated' && state.exitCode === 0);
}

function hasFailed(records: readonly ContainerRecord[], progress: PodProgress): boolean {
  return records.some((each) => {
    const { state } = each;
    return state.kind === 'terminated' && state.exitCode !== 0 && isOver(each, progress);
  });
}

/** Whether it will never run again. */
function isOver({ state }: ContainerRecord, { restartPolicy, isEnding }: PodProgress): boolean {
  return state.kind === 'terminated' && (isEnding || !shallRestart(restartPolicy, state));
}

function isNew({ state, last }: ContainerRecord): boolean {
  return state.kind === 'waiting' && last === undefined;
}

function endPhase(containers: readonly ContainerRecord[]): PodPhase {
  const endedWell = containers.every(({ state }) => state.kind === 'terminated' && state.exitCode === 0);
  return endedWell ? 'Succeeded' : 'Failed';
}
