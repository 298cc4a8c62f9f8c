import { Buffer } from 'node:buffer';
import type { ApiRequest, User } from '#sandbox/api-server/operations/api-request.ts';
import { deleteObject } from '#sandbox/api-server/operations/delete.ts';
import { deleteOptionsOf } from '#sandbox/api-server/operations/delete-options.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

const COLLECTOR: User = {
  username: 'system:serviceaccount:kube-system:generic-garbage-collector',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};

/** Deletes as the garbage collector of Kubernetes does: through admission, bound to the UID. */
export function removeAsCollector(server: ServerState): (storage: string, object: KubeObject) => Promise<void> {
  return async (_storage, object) => {
    const type = server.catalog.findKind(object.apiVersion, object.kind);
    if (type === undefined) return;
    const { name, namespace = '', uid } = object.metadata;
    const request: ApiRequest = {
      method: 'DELETE',
      user: COLLECTOR,
      type,
      namespace,
      name,
      subresource: '',
      query: new URLSearchParams(),
      contentType: '',
      accept: '',
      userAgent: 'generic-garbage-collector',
      body: Buffer.alloc(0),
      warnings: [],
    };
    const options = deleteOptionsOf({ propagationPolicy: 'Background', preconditions: { uid } });
    await deleteObject(server, request, { options, isOfCollection: false });
  };
}
