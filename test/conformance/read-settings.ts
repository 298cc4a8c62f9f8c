import type { EvictionSettings } from '#shared/domain/pressure/parse-thresholds.ts';
import { type WireObject, readTextMap, readTexts } from '#shared/kube/decode/wire-object.ts';

/** The kubelet's eviction settings of a case. */
export function readSettings(config: WireObject): EvictionSettings {
  const table = (key: string) => Object.fromEntries(readTextMap(config, key));
  return {
    evictionHard: table('evictionHard'),
    evictionSoft: table('evictionSoft'),
    evictionSoftGracePeriod: table('evictionSoftGracePeriod'),
    evictionMinimumReclaim: table('evictionMinimumReclaim'),
    enforceNodeAllocatable: readTexts(config, 'enforceNodeAllocatable'),
  };
}
