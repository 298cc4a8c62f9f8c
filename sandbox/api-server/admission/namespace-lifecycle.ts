import { forbidden, notFound } from '#sandbox/api-server/errors/errors.ts';
import { statusError } from '#sandbox/api-server/errors/status-error.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { NAMESPACES } from '#sandbox/api-server/storage-names.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);
const SUBJECT = { group: '', plural: 'namespaces', kind: 'Namespace' };

/**
 * Refuses new objects in a namespace that is missing or ending, and the end of the three that must stay.
 * apiserver `pkg/admission/plugin/namespace/lifecycle/admission.go`. Throws 403 and 404.
 */
export function checkNamespaceLifecycle(store: Store, attributes: Attributes): void {
  const { type, operation, namespace, name } = attributes;
  const isNamespace = type.group === '' && type.plural === 'namespaces';
  if (isNamespace) {
    if (operation === 'DELETE' && IMMORTAL.has(name))
      throw forbidden(SUBJECT, name, 'this namespace may not be deleted');
    return;
  }
  if (namespace !== '' && operation === 'CREATE') checkNamespace(store, attributes);
}

function checkNamespace(store: Store, { type, namespace, name, object }: Attributes): void {
  const found = store.collection(NAMESPACES).get(namespace)?.object;
  if (found === undefined) throw notFound(SUBJECT, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const shownName = name || (object?.metadata.generateName ?? '');
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = forbidden(type, shownName, why);
  const message = `namespace ${namespace} is being terminated`;
  const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
  throw statusError({ ...status, details: { ...status.details, causes } });
}
