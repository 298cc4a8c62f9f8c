import { NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { LimitedResource, ResourceQuota, ScopeTerm } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { Decoded } from './decoded.ts';
import type { WireObject } from './wire-object.ts';
import {
  decodeObject,
  readAmounts,
  readIdentity,
  readList,
  readObject,
  readPart,
  readText,
  readTexts,
} from './wire-object.ts';

/** Reads the wire form of a `v1` ResourceQuota. */
export function decodeResourceQuota(raw: unknown): Decoded<ResourceQuota> {
  return decodeObject(raw, (object) => ({
    ...readPart(object, 'metadata', readIdentity),
    scopes: readObject(object, 'spec', readScopes) ?? [],
    ...readPart(object, 'status', readStatus),
  }));
}

/** Reads one entry of `limitedResources` of an `apiserver.config.k8s.io/v1` ResourceQuotaConfiguration. */
export function decodeLimitedResource(raw: unknown): Decoded<LimitedResource> {
  return decodeObject(raw, (entry) => ({
    apiGroup: readText(entry, 'apiGroup') ?? '',
    resource: readText(entry, 'resource') ?? '',
    matchContains: readTexts(entry, 'matchContains'),
    matchScopes: readList(entry, 'matchScopes', readTerm),
  }));
}

function readStatus(status: WireObject) {
  return { hard: readAmounts(status, 'hard') ?? NO_AMOUNTS, used: readAmounts(status, 'used') ?? NO_AMOUNTS };
}

function readScopes(spec: WireObject): readonly ScopeTerm[] {
  const plain = readTexts(spec, 'scopes').map((scopeName) => ({ scopeName, operator: 'Exists', values: [] }));
  const terms = readObject(spec, 'scopeSelector', (selector) => readList(selector, 'matchExpressions', readTerm));
  return [...plain, ...(terms ?? [])];
}

function readTerm(term: WireObject): ScopeTerm {
  return {
    scopeName: readText(term, 'scopeName') ?? '',
    operator: readText(term, 'operator') ?? '',
    values: readTexts(term, 'values'),
  };
}
