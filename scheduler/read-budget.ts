import { selectorSize } from '#shared/domain/labels/label-selector.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';

/** Selectors that people write have a few requirements; all budgets of a cluster are held in memory. */
const LARGEST_SELECTOR = 100;

/** As `decodeBudget`, without budgets whose selector names more than a hundred labels and values: they protect no pod. */
export function readBudget(raw: unknown): Decoded<DisruptionBudget> {
  const budget = decodeBudget(raw);
  if (!budget.ok || budget.value.selector === undefined) return budget;
  const size = selectorSize(budget.value.selector);
  if (size <= LARGEST_SELECTOR) return budget;
  const message = `expected at most ${LARGEST_SELECTOR} labels and values, got ${size}`;
  return { ok: false, field: 'spec.selector', message };
}
