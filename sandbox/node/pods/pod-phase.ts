import { type ContainerRecord, shallRestart } from '#sandbox/node/containers/container-record.ts';

/** What the phase depends on. */
export interface PodProgress {
  readonly restartPolicy: string;
  readonly initContainers: readonly ContainerRecord[];
  readonly containers: readonly ContainerRecord[];
  /** The pod is being ended, so nothing is started again. */
  readonly isEnding: boolean;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** The phase as `pkg/kubelet/kubelet_pods.go` getPhase has it. */
export function podPhase(progress: PodProgress): PodPhase {
  if (hasFailed(progress.initContainers, progress)) return 'Failed';
  if (!isInitialized(progress)) return progress.isEnding ? 'Failed' : 'Pending';
  if (progress.containers.every((each) => isOver(each, progress))) return endPhase(progress.containers);
  return progress.containers.every(isNew) && !progress.isEnding ? 'Pending' : 'Running';
}

/** Whether every init container has ended well. */
export function isInitialized({ initContainers }: Pick<PodProgress, 'initContainers'>): boolean {
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
