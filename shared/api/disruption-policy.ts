import { z } from 'zod';
import {
  BUDGET_RESPONSES,
  type DefaultLimit,
  type DisruptionPolicy,
} from '#shared/domain/disruption/disruption-limit.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { HAS_RATES, RATES } from './disruption-limit.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind } from './schema/decode-kind.ts';
import { ALL_PRIORITIES, choiceOr, areAllPriorities, list, NAME, priorityRange } from './schema/fields.ts';

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
  }),
  'Defaults of the cluster.',
);

const POLICY = z.codec(z.object({ metadata: NAME, spec: DISRUPTION_POLICY_SPEC }), z.custom<DisruptionPolicy>(), {
  decode: ({ metadata: { name = '' }, spec }) => ({ name, ...spec }),
  encode: ({ name, ...spec }) => ({ metadata: { name }, spec }),
});

/** Reads the spec of a `plimsoll.dev/v1alpha1` DisruptionPolicy; what cannot be read is refused, because it could limit. */
export function decodeDisruptionPolicy(raw: unknown): Decoded<DisruptionPolicy> {
  return decodeKind(POLICY, raw);
}

/** The object as the API server stores it, without its status. */
export function encodeDisruptionPolicy(policy: DisruptionPolicy): object {
  return encodeKind('DisruptionPolicy', POLICY, policy);
}
