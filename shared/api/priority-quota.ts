import { NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { PriorityQuota, PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readIdentity,
  readInteger,
  readObject,
  readPart,
  readTexts,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeAmounts, encodeObject, encodeSelector, present } from './fields.ts';
import { readNamespaceSelector } from './priority-policy.ts';

const LOWEST_PRIORITY = -(2 ** 31);
const HIGHEST_PRIORITY = 2 ** 31 - 1;

/** Reads the spec of a `plimsoll.dev/v1alpha1` PriorityQuota; its status is the ledger's. */
export function decodePriorityQuota(raw: unknown): Decoded<PriorityQuota> {
  return decodeObject(raw, (object) => ({
    name: readPart(object, 'metadata', readIdentity).name,
    ...readPart(object, 'spec', readSpec),
  }));
}

function readSpec(spec: WireObject): Omit<PriorityQuota, 'name'> {
  return {
    namespaces: readNamespaceSelector(spec),
    scope: readObject(spec, 'priority', readRange) ?? {
      kind: 'classes',
      names: new Set(readTexts(spec, 'priorityClassNames')),
    },
    hard: readAmounts(spec, 'hard') ?? NO_AMOUNTS,
    defaultRequest: readAmounts(spec, 'defaultRequest') ?? NO_AMOUNTS,
    requireLabel: readBoolean(spec, 'requireLabel'),
  };
}

function readRange(range: WireObject): PriorityScope {
  const min = readInteger(range, 'min') ?? LOWEST_PRIORITY;
  return { kind: 'range', min, max: readInteger(range, 'max') ?? HIGHEST_PRIORITY };
}

/** The object as the API server stores it, without its status; what is absent or empty is left out. */
export function encodePriorityQuota(quota: PriorityQuota): object {
  const { name, namespaces, scope, hard, defaultRequest, requireLabel } = quota;
  const spec = present({
    namespaceSelector: namespaces.written && encodeSelector(namespaces.written),
    ...encodeScope(scope),
    hard: hard.size === 0 ? undefined : encodeAmounts(hard),
    defaultRequest: defaultRequest.size === 0 ? undefined : encodeAmounts(defaultRequest),
    requireLabel: requireLabel ? true : undefined,
  });
  return encodeObject('PriorityQuota', { name }, { spec });
}

function encodeScope(scope: PriorityScope): object {
  if (scope.kind === 'classes') return scope.names.size === 0 ? {} : { priorityClassNames: [...scope.names] };
  const { min, max } = scope;
  return {
    priority: present({
      min: min === LOWEST_PRIORITY ? undefined : min,
      max: max === HIGHEST_PRIORITY ? undefined : max,
    }),
  };
}
