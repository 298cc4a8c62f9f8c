import type { Debit } from '#shared/domain/disruption/account.ts';
import type { DisruptionLimit } from '#shared/domain/disruption/disruption-limit.ts';
import { COMPONENTS, type LimitRule, type Portion, type RateLimit } from '#shared/domain/disruption/limit-rule.ts';
import type { LimitStatus, WindowStatus } from '#shared/domain/disruption/limit-status.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  type Decoded,
  decodeObject,
  readChoice,
  readCount,
  readIdentity,
  readList,
  readPart,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeObject, encodeSelector, present, timeText, unlessEmpty } from './fields.ts';

/** Reads the spec of a `plimsoll.dev/v1alpha1` DisruptionLimit; what cannot be read is refused, because it could limit. */
export function decodeDisruptionLimit(raw: unknown): Decoded<DisruptionLimit> {
  return decodeObject(raw, (object) => ({
    ...readPart(object, 'metadata', readIdentity),
    ...readPart(object, 'spec', readSpec),
  }));
}

function readSpec(spec: WireObject): Omit<DisruptionLimit, 'namespace' | 'name'> {
  const selector = readSelector(spec, 'selector') ?? refuseField('selector', 'expected a label selector');
  return {
    selector: prepareSelector(selector),
    ...readRates(spec),
    shares: new Map(readList(spec, 'shares', readShare)),
  };
}

/** The fields that a limit and a default have in common. */
export function readRates(spec: WireObject): Pick<LimitRule, 'limits' | 'minAvailable'> {
  return { limits: readList(spec, 'limits', readRate), minAvailable: readPortion(spec, 'minAvailable') };
}

function readRate(limit: WireObject): RateLimit {
  return {
    max: readPortion(limit, 'max') ?? refuseField('max', 'expected a number of pods'),
    windowMs: readWindow(limit),
  };
}

const PERCENT = /^(?<percent>\d{1,3})%$/;

function readPortion(object: WireObject, key: string): Portion | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return { value: readCount(object, key) ?? 0, isPercent: false };
  const percent = PERCENT.exec(value)?.groups?.['percent'];
  if (percent === undefined) return refuseField(key, `expected a number or a percentage such as 10%, got "${value}"`);
  return { value: Number(percent), isPercent: true };
}

function readWindow(limit: WireObject): number {
  const text = readText(limit, 'window') ?? '';
  const parsed = parseDuration(text);
  const windowMs = parsed.ok ? durationSeconds(parsed.nanoseconds) * 1_000 : 0;
  return windowMs > 0 ? windowMs : refuseField('window', `expected a duration such as 1h, got "${text}"`);
}

function readShare(share: WireObject): readonly [(typeof COMPONENTS)[number], number] {
  const component = readChoice(share, 'component', COMPONENTS);
  return [component ?? refuseField('component', 'expected a component'), readCount(share, 'percent') ?? 0];
}

/** The object as the API server stores it, without its status and without absent or empty fields. */
export function encodeDisruptionLimit({ namespace, name, selector, shares, ...rates }: DisruptionLimit): object {
  const spec = present({
    selector: selector.written && encodeSelector(selector.written),
    ...encodeRates(rates),
    shares: unlessEmpty(Array.from(shares, ([component, percent]) => ({ component, percent }))),
  });
  return encodeObject('DisruptionLimit', { namespace, name }, { spec });
}

/** As `readRates` reads it. */
export function encodeRates({ limits, minAvailable }: Pick<LimitRule, 'limits' | 'minAvailable'>): object {
  const encoded = limits.map(({ max, windowMs }) => ({ max: encodePortion(max), window: windowText(windowMs) }));
  return present({ limits: unlessEmpty(encoded), minAvailable: minAvailable && encodePortion(minAvailable) });
}

/** A number of pods or a percentage, as it is written in objects. */
export function encodePortion({ value, isPercent }: Portion): number | string {
  return isPercent ? `${value}%` : value;
}

/** A window as it is written in objects: `1h`, `90s`. */
export function windowText(windowMs: number): string {
  const seconds = windowMs / 1_000;
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** The status of a DisruptionLimit as a merge patch; fields that are now absent are removed. */
export function encodeLimitStatus({ windows, debits, minAvailable = null, ...counts }: Nullable): object {
  return { ...counts, minAvailable, windows: windows.map(encodeWindow), debits: debits.map(encodeShown) };
}

type Nullable = Omit<LimitStatus, 'minAvailable'> & { readonly minAvailable?: number | null | undefined };

function encodeWindow({ windowMs, roomAt, ...counts }: WindowStatus): object {
  return present({
    window: windowText(windowMs),
    ...counts,
    roomAt: roomAt === undefined ? undefined : timeText(roomAt),
  });
}

function encodeShown({ uid, pod, at, component, cause, caller, overran }: Debit): object {
  return present({ uid, pod, at: timeText(at), component, cause, caller, overran });
}
