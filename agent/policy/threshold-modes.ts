import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { readTextMap, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './mode.ts';

const TABLES = [
  { key: 'evictionHardMode', isFor: isHard },
  { key: 'evictionSoftMode', isFor: (threshold: Threshold) => !isHard(threshold) },
] as const;

/**
 * `evictionHardMode` and `evictionSoftMode`: by signal, the mode of its threshold, as a map by threshold id. The copy
 * of a hard memory threshold for the limit of all pods follows its original. A signal without such a threshold is
 * refused, because a mode without effect would be mistaken for a working one.
 */
export function readThresholdModes(spec: WireObject, thresholds: readonly Threshold[]): ReadonlyMap<string, Mode> {
  const modes = TABLES.flatMap(({ key, isFor }) => readTable(spec, key, thresholds.filter(isFor)));
  return new Map(modes);
}

function readTable(
  spec: WireObject,
  key: string,
  thresholds: readonly Threshold[],
): readonly (readonly [string, Mode])[] {
  const table = readTextMap(spec, key);
  for (const signal of table.keys())
    if (!thresholds.some((each) => each.signal === signal)) refuseField(key, `no threshold is set for ${signal}`);
  return thresholds.flatMap(({ id, signal }) => {
    const named = table.get(signal) ?? (signal === COPY ? table.get(ORIGINAL) : undefined);
    return named === undefined ? [] : [[id, modeNamed(key, named)] as const];
  });
}

const ORIGINAL = 'memory.available';
const COPY = 'allocatableMemory.available';

function modeNamed(key: string, text: string): Mode {
  if (text === 'DryRun' || text === 'Enforce') return text;
  return refuseField(key, `expected DryRun or Enforce, got "${text}"`);
}
