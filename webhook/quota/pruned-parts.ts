import { isDeepStrictEqual } from 'node:util';
import type { LedgerPart } from '#shared/domain/quota/replica/event.ts';
import { fieldOf, type KubeObject } from '#shared/kube/kube-object.ts';

const PARTS: readonly LedgerPart[] = ['observedGeneration', 'recounts', 'used', 'slices', 'reservations'];

/**
 * The parts of a ledger that were not stored as sent. An API server silently prunes fields that its
 * CustomResourceDefinition does not have, for example when an upgrade brought new replicas but not the new CRD.
 */
export function prunedParts(sent: KubeObject, stored: KubeObject): readonly LedgerPart[] {
  return PARTS.filter((part) => !isDeepStrictEqual(essence(sent, part), essence(stored, part)));
}

/** For reservations, comparing the UIDs is enough: the CRD stores a reservation completely or not at all. */
function essence(object: KubeObject, part: LedgerPart): unknown {
  const value = fieldOf(object['status'], part);
  if (Array.isArray(value) && value.length === 0) return undefined;
  if (part !== 'reservations' || !Array.isArray(value)) return value;
  return value.map((each) => fieldOf(each, 'uid'));
}
