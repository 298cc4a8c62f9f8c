import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';
import type { Decoded } from './decoded.ts';
import { readSelector } from './decode-scheduling.ts';
import type { WireObject } from './wire-object.ts';
import { decodeObject, readIdentity, readInteger, readObject, readPart, readTextMap } from './wire-object.ts';

/** Reads the wire form of a `policy/v1` PodDisruptionBudget. A budget without status allows no disruption. */
export function decodeBudget(raw: unknown): Decoded<DisruptionBudget> {
  return decodeObject(raw, (budget) => ({
    ...readPart(budget, 'metadata', readIdentity),
    selector: readObject(budget, 'spec', (spec) => readSelector(spec, 'selector')),
    ...readPart(budget, 'status', readStatus),
  }));
}

function readStatus(status: WireObject): Pick<DisruptionBudget, 'disruptionsAllowed' | 'disruptedPods'> {
  return {
    disruptionsAllowed: readInteger(status, 'disruptionsAllowed') ?? 0,
    disruptedPods: new Set(readTextMap(status, 'disruptedPods').keys()),
  };
}
