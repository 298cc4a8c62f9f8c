import { NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { PriorityQuota, PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import { readNamespaceSelector } from './decode-priority-policy.ts';
import type { Decoded } from './decoded.ts';
import {
  decodeObject,
  readAmounts,
  readInteger,
  readObject,
  readText,
  readTexts,
  type WireObject,
} from './wire-object.ts';

const LOWEST_PRIORITY = -(2 ** 31);
const HIGHEST_PRIORITY = 2 ** 31 - 1;

/** Reads the spec of a `plimsoll.dev/v1alpha1` PriorityQuota; its status is the ledger's. */
export function decodePriorityQuota(raw: unknown): Decoded<PriorityQuota> {
  return decodeObject(raw, (object) => {
    const name = readObject(object, 'metadata', (metadata) => readText(metadata, 'name')) ?? '';
    return { name, ...(readObject(object, 'spec', readSpec) ?? readSpec({})) };
  });
}

function readSpec(spec: WireObject): Omit<PriorityQuota, 'name'> {
  return {
    namespaces: readNamespaceSelector(spec),
    scope: readObject(spec, 'priority', readRange) ?? {
      kind: 'classes',
      names: new Set(readTexts(spec, 'priorityClassNames')),
    },
    hard: readAmounts(spec, 'hard') ?? NO_AMOUNTS,
  };
}

function readRange(range: WireObject): PriorityScope {
  const min = readInteger(range, 'min') ?? LOWEST_PRIORITY;
  return { kind: 'range', min, max: readInteger(range, 'max') ?? HIGHEST_PRIORITY };
}
