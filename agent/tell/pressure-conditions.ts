import type { Because } from '#shared/domain/model/because.ts';
import { type PressureCondition, resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';
import type { Picture } from '#agent/picture.ts';

/** One entry of `status.conditions`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export type PressureConditions = readonly Omit<Condition, 'lastTransitionTime'>[];

type Family = 'Memory' | 'Cpu' | 'Io' | 'Disk' | 'Pid';

const KUBELET_CONDITIONS: Readonly<Record<Family, PressureCondition>> = {
  Memory: 'MemoryPressure',
  Cpu: 'CPUPressure',
  Io: 'IOPressure',
  Disk: 'DiskPressure',
  Pid: 'PIDPressure',
};

/** Whether anything of a family is measured at all: without it the condition is unknown, not false. */
function isMeasured(family: Family, { decision, look }: Picture): boolean {
  const signals: readonly Signal[] = [
    ...decision.state.pressure.observations.keys(),
    ...look.stalls.map(({ signal }) => signal),
  ];
  const resources = signals.map(resourceOf);
  switch (family) {
    case 'Memory':
      return resources.includes('memory');
    case 'Cpu':
      return resources.includes('cpu');
    case 'Io':
      return resources.includes('io');
    case 'Disk':
      return resources.includes('ephemeral-storage');
    case 'Pid':
      return resources.includes('pids');
  }
}

function isPressed(family: Family, { decision: { state } }: Picture): boolean {
  const isStalled = [...state.stalls.keys()].some((signal) => signal === `${family.toLowerCase()}.pressure`);
  return isStalled || state.pressure.conditions.includes(KUBELET_CONDITIONS[family]);
}

function familyCondition(family: Family, picture: Picture): PressureConditions[number] {
  if (!isMeasured(family, picture)) {
    return {
      type: family,
      status: 'Unknown',
      reason: 'NotMeasured',
      message: `No source measures this family on this node`,
    };
  }
  return isPressed(family, picture)
    ? {
        type: family,
        status: 'True',
        reason: 'Pressure',
        message: 'A threshold was crossed within the transition period',
      }
    : {
        type: family,
        status: 'False',
        reason: 'NoPressure',
        message: 'No threshold was crossed within the transition period',
      };
}

function sourcesCondition(disagreement: Because | undefined): PressureConditions[number] {
  if (disagreement === undefined) {
    return { type: 'SourcesAgree', status: 'True', reason: 'NoDisagreement', message: 'No source contradicts another' };
  }
  const status = disagreement.code === 'SourcesDisagree' ? 'False' : 'Unknown';
  return { type: 'SourcesAgree', status, reason: disagreement.code, message: disagreement.text };
}

/** One condition per family of signals, and whether the sources agree; `disagreement` may also say that nothing can be compared. */
export function pressureConditions(picture: Picture, disagreement: Because | undefined): PressureConditions {
  const families: readonly Family[] = ['Memory', 'Cpu', 'Io', 'Disk', 'Pid'];
  return [...families.map((family) => familyCondition(family, picture)), sourcesCondition(disagreement)];
}
