import {
  BUDGET_RESPONSES,
  type DefaultLimit,
  type DisruptionPolicy,
} from '#shared/domain/disruption/disruption-limit.ts';
import {
  type Decoded,
  decodeObject,
  readChoice,
  readIdentity,
  readInt32,
  readList,
  readPart,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeRates, readRates } from './disruption-limit.ts';
import { encodeObject, present, unlessEmpty } from './fields.ts';

const LOWEST_PRIORITY = -(2 ** 31);
const HIGHEST_PRIORITY = 2 ** 31 - 1;

/** Reads the spec of a `plimsoll.dev/v1alpha1` DisruptionPolicy; what cannot be read is refused, because it could limit. */
export function decodeDisruptionPolicy(raw: unknown): Decoded<DisruptionPolicy> {
  return decodeObject(raw, (object) => ({
    name: readPart(object, 'metadata', readIdentity).name,
    ...readPart(object, 'spec', readSpec),
  }));
}

function readSpec(spec: WireObject): Omit<DisruptionPolicy, 'name'> {
  return {
    defaults: readList(spec, 'defaults', readDefault),
    forbiddingBudgets: readChoice(spec, 'forbiddingBudgets', BUDGET_RESPONSES) ?? 'Show',
  };
}

function readDefault(entry: WireObject): DefaultLimit {
  const range = readPart(entry, 'priority', (priority) => ({
    min: readInt32(priority, 'min') ?? LOWEST_PRIORITY,
    max: readInt32(priority, 'max') ?? HIGHEST_PRIORITY,
  }));
  return { ...range, ...readRates(entry) };
}

/** The object as the API server stores it, without its status and without absent or default fields. */
export function encodeDisruptionPolicy({ name, defaults, forbiddingBudgets }: DisruptionPolicy): object {
  const spec = present({
    defaults: unlessEmpty(defaults.map(encodeDefault)),
    forbiddingBudgets: forbiddingBudgets === 'Show' ? undefined : forbiddingBudgets,
  });
  return encodeObject('DisruptionPolicy', { name }, { spec });
}

function encodeDefault({ min, max, ...rates }: DefaultLimit): object {
  const priority = present({
    min: min === LOWEST_PRIORITY ? undefined : min,
    max: max === HIGHEST_PRIORITY ? undefined : max,
  });
  return present({ priority: Object.keys(priority).length === 0 ? undefined : priority, ...encodeRates(rates) });
}
