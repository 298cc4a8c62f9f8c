import { DEFAULT_LIMITS, type EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import { readCount, readObject, type WireObject } from './wire-object.ts';

/** `limits` of a NodePressurePolicy's spec; what it does not say is as without a policy. */
export function readEvictionLimits(spec: WireObject): EvictionLimits {
  return readObject(spec, 'limits', readLimits) ?? DEFAULT_LIMITS;
}

function readLimits(limits: WireObject): EvictionLimits {
  return {
    concurrent: readCount(limits, 'concurrent') ?? DEFAULT_LIMITS.concurrent,
    perMinute: readCount(limits, 'perMinute') ?? DEFAULT_LIMITS.perMinute,
    perTenMinutes: readCount(limits, 'perTenMinutes') ?? DEFAULT_LIMITS.perTenMinutes,
    perNamespacePerTenMinutes:
      readCount(limits, 'perNamespacePerTenMinutes') ?? DEFAULT_LIMITS.perNamespacePerTenMinutes,
  };
}
