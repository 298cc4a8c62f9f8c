import { z } from 'zod';
import {
  BUDGET_RESPONSES,
  type DefaultLimit,
  type DisruptionPolicy,
} from '#shared/domain/disruption/disruption-limit.ts';
import { DEFAULT_RETENTION, type Retention } from '#shared/domain/disruption/disruption.ts';
import { HOUR_MS, MINUTE_MS } from '#shared/domain/base/durations.ts';
import { type Decoded, readText, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { HAS_RATES, RATES, readWindow, windowText } from './disruption-limit.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind } from './schema/decode-kind.ts';
import { ALL_PRIORITIES, choiceOr, areAllPriorities, field, list, NAME, priorityRange } from './schema/fields.ts';

const DEFAULT = z.codec(
  described(
    z.object({
      priority: priorityRange('Range of priorities, both ends included. If absent, all priorities.', {
        min: 'Lowest priority.',
        max: 'Highest priority.',
      }).optional(),
      ...RATES,
    }),
    undefined,
    { 'x-kubernetes-validations': [HAS_RATES] },
  ),
  z.custom<DefaultLimit>(),
  {
    decode: ({ priority = ALL_PRIORITIES, ...rates }) => ({ ...priority, ...rates }),
    encode: ({ min, max, ...rates }) => ({
      priority: areAllPriorities({ min, max }) ? undefined : { min, max },
      ...rates,
    }),
  },
);

const MIN_PERIOD_MS = 15 * MINUTE_MS;
const MAX_PERIOD_MS = 365 * 24 * HOUR_MS;

function readPeriod(retention: WireObject, key: string): number | undefined {
  if (retention[key] === undefined || retention[key] === null) return undefined;
  const periodMs = readWindow(retention, key);
  const isWithin = periodMs >= MIN_PERIOD_MS && periodMs <= MAX_PERIOD_MS;
  return isWithin ? periodMs : refuseField(key, `expected 15m to 8760h, got "${readText(retention, key) ?? ''}"`);
}

function kept(most: number, usual: number, description: string) {
  return described(z.int().min(1).max(most).exactOptional(), description, { format: 'int32', defaultValue: usual });
}

const RETENTION = described(
  z.object({
    period: field(
      { read: readPeriod, write: (periodMs: number | undefined) => periodMs && windowText(periodMs) },
      {
        type: 'string',
        maxLength: 8,
        pattern: '^[1-9][0-9]{0,4}[smh]$',
        defaultValue: windowText(DEFAULT_RETENTION.keepMs),
        description: 'How long a Disruption is kept, from 15m to 8760h.',
      },
    ),
    perNamespace: kept(20_000, DEFAULT_RETENTION.perNamespace, 'Maximum Disruptions per namespace.'),
    total: kept(100_000, DEFAULT_RETENTION.total, 'Maximum Disruptions in the cluster.'),
  }),
  'How many Disruptions are kept. The oldest are deleted first. Changes take effect at once.',
  {
    'x-kubernetes-validations': [
      {
        rule: "!has(self.period) || (duration(self.period) >= duration('15m') && duration(self.period) <= duration('8760h'))",
        message: 'period must be from 15m to 8760h',
      },
    ],
  },
);

type WrittenRetention = z.output<typeof RETENTION>;

function readRetention({ period, ...counts }: WrittenRetention = { period: undefined }): Retention {
  return { ...DEFAULT_RETENTION, ...counts, ...(period !== undefined && { keepMs: period }) };
}

/** Defaults are not written. */
function writeRetention({ keepMs, perNamespace, total }: Retention): WrittenRetention | undefined {
  const usual = DEFAULT_RETENTION;
  const counts = {
    ...(perNamespace !== usual.perNamespace && { perNamespace }),
    ...(total !== usual.total && { total }),
  };
  const period = keepMs === usual.keepMs ? undefined : keepMs;
  return period === undefined && Object.keys(counts).length === 0 ? undefined : { period, ...counts };
}

export const DISRUPTION_POLICY_SPEC = described(
  z.object({
    forbiddingBudgets: choiceOr(
      BUDGET_RESPONSES,
      'Show',
      'What happens to a PodDisruptionBudget that forbids every eviction, by maxUnavailable 0 or by a minAvailable that is all of its pods when it is written, or that selects pods of another budget. Show reports it, Warn warns its author, Deny refuses it.',
    ),
    defaults: list(
      DEFAULT,
      'Limits of owners whose pods neither a DisruptionLimit nor a PodDisruptionBudget selects. The first entry whose range holds the priority of a pod counts.',
      { maxItems: 16 },
    ),
    retention: RETENTION.optional(),
  }),
  'Defaults of the cluster.',
);

const POLICY = z.codec(z.object({ metadata: NAME, spec: DISRUPTION_POLICY_SPEC }), z.custom<DisruptionPolicy>(), {
  decode: ({ metadata: { name = '' }, spec }) => ({ name, ...spec, retention: readRetention(spec.retention) }),
  encode: ({ name, retention, ...spec }) => ({
    metadata: { name },
    spec: { ...spec, retention: writeRetention(retention) },
  }),
});

/** Reads the spec of a `plimsoll.dev/v1alpha1` DisruptionPolicy; what cannot be read is refused, because it could limit. */
export function decodeDisruptionPolicy(raw: unknown): Decoded<DisruptionPolicy> {
  return decodeKind(POLICY, raw);
}

/** The object as the API server stores it, without its status. */
export function encodeDisruptionPolicy(policy: DisruptionPolicy): object {
  return encodeKind('DisruptionPolicy', POLICY, policy);
}
