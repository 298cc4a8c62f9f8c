import { isDeepStrictEqual } from 'node:util';
import type { LedgerPart } from '#shared/domain/quota/replica/event.ts';
import { fieldOf } from '#shared/kube/field-of.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

const PARTS: readonly LedgerPart[] = ['observedGeneration', 'recounts', 'used', 'slices', 'reservations'];

/**
 * Which parts of a ledger are not stored as they were sent. An API server leaves out in silence what its
 * CustomResourceDefinition does not name, as after an upgrade that has brought new replicas and not the new CRD.
 */
export function prunedParts(sent: KubeObject, stored: KubeObject): readonly LedgerPart[] {
  return PARTS.filter((part) => !isDeepStrictEqual(essence(sent, part), essence(stored, part)));
}

/** Of many reservations their UIDs will do: what names the one charges the other as well. */
function essence(object: KubeObject, part: LedgerPart): unknown {
  const value = fieldOf(object['status'], part);
  if (Array.isArray(value) && value.length === 0) return undefined;
  if (part !== 'reservations' || !Array.isArray(value)) return value;
  return value.map((each) => fieldOf(each, 'uid'));
}
