import {
  POLICY_KEYS,
  type PolicyKeyName,
  type PolicyRanking,
  type RankingPolicy,
} from '#shared/domain/ranking/ranking-order.ts';
import { readChoice, readObject, readTexts, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { DEFAULT_POLICY } from './policy.ts';

/** `spec.ranking` and `spec.missingStats`. */
export function readRanking(spec: WireObject): RankingPolicy {
  const usual = DEFAULT_POLICY.ranking;
  const ranking = readObject(spec, 'ranking', (inner) => ({
    order: readOrder(inner),
    daemonSets: readChoice(inner, 'daemonSets', ['Last', 'Rank']),
  }));
  return {
    ranking: ranking?.order ?? usual.ranking,
    daemonSets: ranking?.daemonSets ?? usual.daemonSets,
    missingStats: readChoice(spec, 'missingStats', ['Never', 'Last', 'First']) ?? usual.missingStats,
  };
}

function readOrder(ranking: WireObject): PolicyRanking | undefined {
  const keys = readTexts(ranking, 'keys');
  const unknown = keys.find((key) => !isPolicyKey(key));
  if (unknown !== undefined)
    return refuseField('keys', `expected ${Object.keys(POLICY_KEYS).join(', ')}, got "${unknown}"`);
  if (keys.length > 0) return { keys: keys.filter(isPolicyKey) };
  return readChoice<'Kubernetes' | 'ShareOfRequest'>(ranking, 'preset', ['Kubernetes', 'ShareOfRequest']);
}

function isPolicyKey(text: string): text is PolicyKeyName {
  return Object.hasOwn(POLICY_KEYS, text);
}
