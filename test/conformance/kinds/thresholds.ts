import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { Threshold, ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { readObject } from '#shared/kube/decode/wire-object.ts';
import { readSettings } from '#test/conformance/read-settings.ts';
import { readCase } from '#test/conformance/required.ts';

/** Kind `thresholds`: what the kubelet makes of eviction settings. */
export function answer(vector: unknown): unknown {
  const settings = readCase(vector, (fields) => readObject(fields, 'config', readSettings) ?? {});
  const parsed = parseThresholds(settings);
  if (!parsed.ok) return { ok: false, errors: parsed.mistakes, want: [] };
  return { ok: true, want: parsed.thresholds.toSorted(bySignalThenGrace).map(describe) };
}

function bySignalThenGrace(left: Threshold, right: Threshold): number {
  if (left.signal !== right.signal) return left.signal < right.signal ? -1 : 1;
  return left.gracePeriodSeconds - right.gracePeriodSeconds || kindPlace(left.value) - kindPlace(right.value);
}

/** The recorder prints amounts before shares, and leaves the rest as configured. */
function kindPlace({ kind }: ThresholdValue): number {
  return kind === 'amount' ? 0 : 1;
}

function describe({ signal, value, gracePeriodSeconds, minimumReclaim }: Threshold): unknown {
  return {
    signal,
    operator: 'LessThan',
    value: describeValue(value),
    gracePeriodSeconds,
    ...(minimumReclaim === undefined ? {} : { minReclaim: describeValue(minimumReclaim) }),
  };
}

function describeValue(value: ThresholdValue): unknown {
  if (value.kind === 'amount') return { quantity: formatQuantity(value.amount) };
  return { percentage: Number.isNaN(value.share) ? 'NaN' : value.share };
}
