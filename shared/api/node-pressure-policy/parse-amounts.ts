import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { parsePercentage } from '#shared/domain/pressure/parse-percentage.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import { parseWireQuantity, refuseField } from '#shared/kube/decode/wire-object.ts';

const LONGEST_DURATION_MS = 86_400_000;

/** A duration as Kubernetes writes it, in milliseconds; up to a day. */
export function parseDurationMs(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (!parsed.ok) return refuseField(field, parsed.message);
  const ms = durationSeconds(parsed.nanoseconds) * 1000;
  if (ms >= 0 && ms <= LONGEST_DURATION_MS) return ms;
  return refuseField(field, `expected 0s to 24h, got "${text}"`);
}

/** A percentage as a share from 0 to 1. */
export function parseShare(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return shareIn(text) ?? refuseField(field, `expected a percentage from 0% to 100%, got "${text}"`);
}

function shareIn(text: string): number | undefined {
  const parsed = text.endsWith('%') ? parsePercentage(text) : undefined;
  return parsed?.ok === true && parsed.share >= 0 && parsed.share <= 1 ? parsed.share : undefined;
}

/** A percentage of the capacity or an amount above 0, such as `5%` or `500m`. */
export function parseShareOrAmount(field: string, text: string | undefined): ThresholdValue | undefined {
  if (text === undefined) return undefined;
  const share = shareIn(text);
  if (share !== undefined) return { kind: 'share', share };
  const parsed = parseWireQuantity(text);
  if (parsed.ok && quantitySign(parsed.quantity) > 0) return { kind: 'amount', amount: parsed.quantity };
  return refuseField(field, `expected an amount above 0 such as 500m or a percentage from 0% to 100%, got "${text}"`);
}
