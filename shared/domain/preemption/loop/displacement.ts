import { type OwnerKey, ownerText } from '#shared/domain/pod/owner-key.ts';
import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';

/** A pod that a scheduler preempted, and the pod that it made room for. */
export interface Displacement {
  readonly at: Instant;
  readonly node: string;
  readonly preemptor: Contender;
  /** Of the preemptor. */
  readonly priority: number;
  readonly victim: Contender;
}

/** A pod as one side of a preemption. */
export interface Contender {
  readonly uid: string;
  /** Owner of the pod, or the pod itself. */
  readonly party: string;
}

/**
 * What recreates a pod: its controller as `namespace/Kind/name/uid`, or, where it has none, the pod by its name. Another
 * controller of the same name is another party.
 */
export function contenderOf(pod: Pod): Contender {
  const { namespace, name, uid } = pod;
  const owner = controllerOf(pod) ?? { kind: 'Pod', name, uid: undefined };
  return { uid, party: partyOf({ ...owner, namespace }) };
}

/** An owner as a side of a preemption. */
export function partyOf(owner: OwnerKey): string {
  return (owner.uid ?? '') === '' ? ownerText(owner) : `${ownerText(owner)}/${owner.uid}`;
}

/** The owner that a side is. */
export function ownerKeyOf(party: string): OwnerKey {
  const [namespace = '', kind = '', name = '', ...uid] = party.split('/');
  return { namespace, kind, name, uid: uid.length === 0 ? undefined : uid.join('/') };
}
