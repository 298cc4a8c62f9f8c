import { PODS, type Resource } from '#shared/kube/resource.ts';
import type { OwnerReference } from '#sandbox/api-server/wire/object.ts';
import type { OwnedObject, PodTemplate } from './wire-workloads.ts';

/** One change that a controller wants, as data. */
export type Write =
  | {
      readonly kind: 'create';
      readonly resource: Resource;
      readonly namespace: string | undefined;
      readonly owner: OwnerReference;
      readonly object: object;
    }
  | { readonly kind: 'delete'; readonly resource: Resource; readonly object: OwnedObject }
  | {
      readonly kind: 'patch';
      readonly resource: Resource;
      readonly object: OwnedObject;
      readonly subresource?: string;
      /** JSON merge patch. */
      readonly patch: object;
    };

/** The creation of a pod from its controller's template. */
export function createPod(controller: OwnedObject, owner: OwnerReference, template: PodTemplate): Write {
  const { labels, annotations } = template.metadata ?? {};
  const { name = '', namespace } = controller.metadata;
  const metadata = { generateName: `${name}-`, namespace, labels, annotations, ownerReferences: [owner] };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec };
  return { kind: 'create', resource: PODS, namespace, owner, object };
}

/** Makes `controller` the owner of what it creates. */
export function referenceTo(owner: OwnedObject, apiVersion: string, kind: string): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name: name ?? '', uid: uid ?? '', controller: true, blockOwnerDeletion: true };
}

/** A patch of the status, or nothing when the object already says so. */
export function statusPatch(
  resource: Resource,
  object: OwnedObject,
  status: Readonly<Record<string, unknown>>,
): readonly Write[] {
  const present = (object['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const isSame = Object.entries(status).every(([key, value]) => JSON.stringify(present[key]) === JSON.stringify(value));
  return isSame ? [] : [{ kind: 'patch', resource, object, subresource: 'status', patch: { status } }];
}
