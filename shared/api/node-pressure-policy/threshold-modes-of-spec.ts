import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { refuseField } from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './mode.ts';
import type { NodePressurePolicySpec } from './spec.ts';

const TABLES = [
  { key: 'evictionHardMode', isFor: isHard },
  { key: 'evictionSoftMode', isFor: (threshold: Threshold) => !isHard(threshold) },
] as const;

/**
 * `evictionHardMode` and `evictionSoftMode`: by signal, the mode of its threshold, as a map by threshold id. The copy
 * of a hard memory threshold for the limit of all pods follows its original. A signal without such a threshold is
 * refused, because a mode without effect would be mistaken for a working one.
 */
export function thresholdModesOf(
  spec: NodePressurePolicySpec,
  thresholds: readonly Threshold[],
): ReadonlyMap<string, Mode> {
  return new Map(TABLES.flatMap(({ key, isFor }) => modesIn(key, spec, thresholds.filter(isFor))));
}

function modesIn(
  key: (typeof TABLES)[number]['key'],
  spec: NodePressurePolicySpec,
  thresholds: readonly Threshold[],
): readonly (readonly [string, Mode])[] {
  const table = new Map(Object.entries(spec[key] ?? {}));
  for (const signal of table.keys())
    if (!thresholds.some((each) => each.signal === signal)) refuseField(key, `no threshold is set for ${signal}`);
  return thresholds.flatMap(({ id, signal }) => {
    const mode = table.get(signal) ?? (signal === COPY ? table.get(ORIGINAL) : undefined);
    return mode === undefined ? [] : [[id, mode] as const];
  });
}

const ORIGINAL = 'memory.available';
const COPY = 'allocatableMemory.available';
