/** The controller of a pod. Without `uid`, every owner of that name is meant. */
export interface OwnerKey {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** Whether two keys name one owner; UIDs are compared where both are known. */
export function isSameOwner(left: OwnerKey, right: OwnerKey): boolean {
  const isSameName = left.namespace === right.namespace && left.kind === right.kind && left.name === right.name;
  return isSameName && (left.uid === undefined || right.uid === undefined || left.uid === right.uid);
}

/** Identifies an owner; two owners of the same name differ if both UIDs are known. */
export function ownerId(owner: OwnerKey): string {
  return `${ownerText(owner)} ${owner.uid ?? ''}`;
}

/** An owner as messages and `status.evictions` name it: `namespace/Kind/name`. */
export function ownerText({ namespace, kind, name }: OwnerKey): string {
  return `${namespace}/${kind}/${name}`;
}
