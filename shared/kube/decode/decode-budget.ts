import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';
import type { Decoded } from './decoded.ts';
import { readSelector } from './decode-scheduling.ts';
import type { WireObject } from './wire-object.ts';
import { decodeObject, readInteger, readObject, readText, readTextMap } from './wire-object.ts';

const EMPTY: WireObject = {};

/** Reads the wire form of a `policy/v1` PodDisruptionBudget. A budget without status allows no disruption. */
export function decodeBudget(raw: unknown): Decoded<DisruptionBudget> {
  return decodeObject(raw, (budget) => ({
    ...(readObject(budget, 'metadata', readMetadata) ?? readMetadata(EMPTY)),
    selector: readObject(budget, 'spec', (spec) => readSelector(spec, 'selector')),
    ...(readObject(budget, 'status', readStatus) ?? readStatus(EMPTY)),
  }));
}

function readMetadata(metadata: WireObject): Pick<DisruptionBudget, 'namespace' | 'name'> {
  return { namespace: readText(metadata, 'namespace') ?? '', name: readText(metadata, 'name') ?? '' };
}

function readStatus(status: WireObject): Pick<DisruptionBudget, 'disruptionsAllowed' | 'disruptedPods'> {
  return {
    disruptionsAllowed: readInteger(status, 'disruptionsAllowed') ?? 0,
    disruptedPods: new Set(readTextMap(status, 'disruptedPods').keys()),
  };
}
