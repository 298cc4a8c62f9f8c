import { z } from 'zod';
import type { Debit } from '#shared/domain/disruption/account.ts';
import type { DisruptionLimit } from '#shared/domain/disruption/disruption-limit.ts';
import { COMPONENTS, type Portion, type RateLimit } from '#shared/domain/disruption/limit-rule.ts';
import type { LimitStatus, WindowStatus } from '#shared/domain/disruption/limit-status.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { type Decoded, readCount, readText, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { present, timeText } from './fields.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind } from './schema/decode-kind.ts';
import { field, intOrText, list, NAME, requiredField, requiredSelector, text } from './schema/fields.ts';

const PERCENT = /^(?<percent>\d{1,3})%$/;
const PORTION = intOrText('^(100|[0-9]{1,2})%$');

function readPortion(object: WireObject, key: string): Portion | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return { value: readCount(object, key) ?? 0, isPercent: false };
  const percent = PERCENT.exec(value)?.groups?.['percent'];
  if (percent === undefined) return refuseField(key, `expected a number or a percentage such as 10%, got "${value}"`);
  return { value: Number(percent), isPercent: true };
}

/** A length of time, in milliseconds. */
export function readWindow(limit: WireObject, key: string): number {
  const written = readText(limit, key) ?? '';
  const parsed = parseDuration(written);
  const windowMs = parsed.ok ? durationSeconds(parsed.nanoseconds) * 1_000 : 0;
  return windowMs > 0 ? windowMs : refuseField(key, `expected a duration such as 1h, got "${written}"`);
}

const MAX = requiredField(
  {
    read: (limit, key) => readPortion(limit, key) ?? refuseField(key, 'expected a number of pods'),
    write: encodePortion,
  },
  { ...PORTION, description: 'Number of pods, or percentage of the expected pods, rounded up.' },
);
const WINDOW = requiredField(
  { read: readWindow, write: windowText },
  { type: 'string', pattern: '^[1-9][0-9]{0,4}[smh]$', description: 'Length of the time, such as 90s, 10m or 1h.' },
);
const RATE = z.codec(
  described(z.object({ max: MAX, window: WINDOW }), undefined, {
    'x-kubernetes-validations': [
      {
        rule: 'type(self.max) != int || (self.max >= 0 && self.max <= 2000)',
        message: 'max must be a percentage or a number from 0 to 2000',
      },
    ],
  }),
  z.custom<RateLimit>(),
  {
    decode: ({ max, window }) => ({ max, windowMs: window }),
    encode: ({ max, windowMs }) => ({ max, window: windowMs }),
  },
);

/** The fields that a limit and a default have in common. */
export const RATES = {
  limits: list(RATE, 'How many pods may be removed within a time. All of them hold.', { maxItems: 8 }),
  minAvailable: field(
    { read: readPortion, write: (value: Portion | undefined) => value && encodePortion(value) },
    {
      ...PORTION,
      description: 'Number of pods, or percentage of the expected pods, that an eviction must leave Ready.',
    },
  ),
};
/** They are not both absent. */
export const HAS_RATES = {
  rule: 'has(self.limits) || has(self.minAvailable)',
  message: 'must set limits or minAvailable',
};

const SHARE = z.object({
  component: described(
    z.enum(COMPONENTS, { error: ({ input }) => (input === undefined ? 'expected a component' : undefined) }),
    'Whose removals the share limits. Scheduler is the queues and the rescheduler. Others are drains, users and other controllers.',
  ),
  percent: described(z.int().min(1).max(100), 'Percentage of max, rounded up.'),
});

export const DISRUPTION_LIMIT_SPEC = described(
  z.object({
    selector: requiredSelector(
      'Labels of the pods in its namespace that the limit covers. An empty selector covers all of them.',
    ),
    ...RATES,
    shares: list(
      SHARE,
      'What single components may use of each max. A component that is not listed may use all of it.',
      { maxItems: 5, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['component'] },
    ),
  }),
  'Which pods are covered, and how many of them may be removed.',
  {
    'x-kubernetes-validations': [
      HAS_RATES,
      {
        rule: '!has(self.minAvailable) || type(self.minAvailable) != int || self.minAvailable >= 0',
        message: 'minAvailable must not be negative',
      },
    ],
  },
);

const LIMIT = z.codec(
  z.object({ metadata: NAME.extend({ namespace: text(undefined) }), spec: DISRUPTION_LIMIT_SPEC }),
  z.custom<DisruptionLimit>(),
  {
    decode: ({ metadata: { namespace = '', name = '' }, spec }) => ({
      namespace,
      name,
      ...spec,
      shares: new Map(spec.shares.map(({ component, percent }) => [component, percent])),
    }),
    encode: ({ namespace, name, shares, ...spec }) => ({
      metadata: { namespace, name },
      spec: { ...spec, shares: Array.from(shares, ([component, percent]) => ({ component, percent })) },
    }),
  },
);

/** Reads the spec of a `plimsoll.dev/v1alpha1` DisruptionLimit; what cannot be read is refused, because it could limit. */
export function decodeDisruptionLimit(raw: unknown): Decoded<DisruptionLimit> {
  return decodeKind(LIMIT, raw);
}

/** The object as the API server stores it, without its status and without absent or empty fields. */
export function encodeDisruptionLimit(limit: DisruptionLimit): object {
  return encodeKind('DisruptionLimit', LIMIT, limit);
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
