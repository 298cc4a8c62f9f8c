import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import { quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import type { GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';
import type { CachedQuota } from '#webhook/cluster-state/caches.ts';

const LABELS = ['quota', 'resource'];

/**
 * Exports the limits and the usage of each PriorityQuota in whole units (bytes, cores, pods), as last read from the API
 * server. Resources that have not been counted yet are not exported. Every replica exports the same values.
 */
export function exportQuotas(quotas: Pick<Reflector<CachedQuota>, 'onChange'>, metrics: Metrics): void {
  const show = {
    used: createShow(metrics.gauge('plimsoll_quota_used', 'Usage of a PriorityQuota, including reservations', LABELS)),
    hard: createShow(metrics.gauge('plimsoll_quota_hard', 'Limits of a PriorityQuota', LABELS)),
  };
  quotas.onChange(({ kind, key, value }) => {
    show.used(key, kind === 'deleted' ? NO_AMOUNTS : value.used);
    show.hard(key, kind === 'deleted' ? NO_AMOUNTS : value.hard);
  });
}

/** Sets the series of one quota and removes those of resources that it no longer names. */
function createShow(gauge: GaugeMetric): (quota: string, amounts: Amounts) => void {
  const shown = new Map<string, readonly string[]>();
  return (quota, amounts) => {
    for (const resource of shown.get(quota) ?? []) if (!amounts.has(resource)) gauge.remove({ quota, resource });
    for (const [resource, amount] of amounts) gauge.set(quantityMilliNumber(amount) / 1_000, { quota, resource });
    if (amounts.size === 0) shown.delete(quota);
    else shown.set(quota, [...amounts.keys()]);
  };
}
