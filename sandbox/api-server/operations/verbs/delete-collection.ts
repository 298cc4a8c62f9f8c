import { StatusError } from '#sandbox/api-server/errors/status-error.ts';
import type { Revision } from '#sandbox/api-server/storage/revision.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { checkDeleteOptions, deleteObject } from './delete.ts';
import { readDeleteOptions } from '#sandbox/api-server/operations/delete-options.ts';
import { readSelection } from '#sandbox/api-server/operations/selection.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';

/** DELETE of a collection: each selected object as if deleted alone. Returns them as they were. */
export async function deleteCollection(server: ServerState, request: ApiRequest): Promise<readonly Revision[]> {
  const options = readDeleteOptions(request);
  checkDeleteOptions(options);
  const isSelected = readSelection(request);
  const selected = server.store
    .collection(request.type.storage)
    .values()
    .filter(({ object }) => isSelected(object));
  for (const { object } of selected) {
    const one: ApiRequest = { ...request, name: object.metadata.name, namespace: object.metadata.namespace ?? '' };
    await deleteObject(server, one, { options, isOfCollection: true }).catch(ignoreNotFound);
  }
  return selected;
}

/** Another request was faster. */
function ignoreNotFound(error: unknown): void {
  if (error instanceof StatusError && error.status.code === 404) return;
  throw error;
}
