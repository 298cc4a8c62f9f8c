import { conflict, invalid } from '#sandbox/api-server/errors/errors.ts';
import {
  copyObject,
  fieldsAt,
  fieldsOf,
  numberAt,
  textAt,
  type KubeObject,
  timeText,
} from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { type DeleteOptions, readDeleteOptions } from '#sandbox/api-server/operations/delete-options.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { StatusError } from '#sandbox/api-server/errors/status-error.ts';
import type { Revision } from '#sandbox/api-server/storage/revision.ts';
import { readSelection } from '#sandbox/api-server/operations/selection.ts';
import { currentRevision } from './update.ts';

/** The result of a delete. */
export interface DeleteResult {
  /** The last state: deleted, or marked for deletion. */
  readonly object: KubeObject;
  readonly isGone: boolean;
}

/** How a delete reaches admission. */
export interface DeleteCall {
  readonly options: DeleteOptions;
  /** In a delete of a collection webhooks see no name. */
  readonly isOfCollection: boolean;
  /** An eviction has already passed admission. */
  readonly skipsAdmission?: boolean;
}

/** Deletes the object named by a request: at once, or by marking it if it has finalizers or is a running pod. */
export async function deleteObject(server: ServerState, request: ApiRequest, call: DeleteCall): Promise<DeleteResult> {
  const { object } = currentRevision(server, request);
  checkPreconditions(object, call.options);
  const grace = graceOf(object, call.options);
  if (isAlreadyEnding(object, grace)) return { object, isGone: false };
  if (call.skipsAdmission !== true) await admit(server, request, call, { object, grace });
  const current = currentRevision(server, request).object;
  checkPreconditions(current, call.options);
  if (current.metadata.uid !== object.metadata.uid)
    throw conflict(
      request.type,
      request.name,
      `the UID in the precondition (${object.metadata.uid ?? ''}) does not match the UID in record (${current.metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    );
  return removeOrMark(server, request, call.options, current);
}

/** 409 in the words of apiserver `pkg/registry/rest/delete.go`, which names the kind instead of the resource. */
export function checkPreconditions(object: KubeObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions;
  const subject = { group: groupOf(object.apiVersion), plural: object.kind, kind: object.kind };
  const { name, uid: ownUid = '', resourceVersion: ownVersion = '' } = object.metadata;
  if (uid !== undefined && uid !== ownUid) {
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${ownVersion}). The object might have been modified`,
    );
  }
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/**
 * Seconds that a pod may take to terminate; other kinds are deleted at once. `pkg/registry/core/pod/strategy.go`
 * CheckGracefulDelete.
 */
function graceOf(object: KubeObject, { gracePeriodSeconds }: DeleteOptions): number {
  if (object.kind !== 'Pod') return 0;
  const spec = fieldsAt(object, 'spec');
  const phase = textAt(fieldsAt(object, 'status'), 'phase');
  if (textAt(spec, 'nodeName') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  const asked = gracePeriodSeconds ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return asked < 0 ? 1 : asked;
}

/** A second delete has no effect, unless it shortens the time of a pod. */
function isAlreadyEnding({ kind, metadata }: KubeObject, grace: number): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const left = metadata.deletionGracePeriodSeconds ?? 0;
  return kind === 'Pod' ? left > 0 && grace >= left : true;
}

interface DeletedObject {
  readonly object: KubeObject;
  readonly grace: number;
}

async function admit(
  server: ServerState,
  request: ApiRequest,
  { options, isOfCollection }: DeleteCall,
  { object, grace }: DeletedObject,
): Promise<void> {
  const isGraceful = object.kind === 'Pod' && !isOfCollection;
  const attributes = attributesOf(request, {
    operation: 'DELETE',
    name: isOfCollection ? '' : request.name,
    isDryRun: options.isDryRun,
    options: { ...options.wire, ...(isGraceful ? { gracePeriodSeconds: grace } : {}) },
    object: undefined,
    previous: object,
  });
  await server.admission.mutate(attributes);
  const charge = await server.admission.validate(attributes);
  charge();
}

/** Runs in one turn of the event loop. */
function removeOrMark(
  server: ServerState,
  { type }: ApiRequest,
  options: DeleteOptions,
  current: KubeObject,
): DeleteResult {
  const grace = graceOf(current, options);
  const next = copyObject(current);
  const finalizers = finalizersAfter(next, options);
  next.metadata.finalizers = finalizers;
  if (finalizers.length === 0) Reflect.deleteProperty(next.metadata, 'finalizers');
  markDeleted(next, grace, server.clock.now());
  if (options.isDryRun) return { object: next, isGone: grace === 0 && !isHeld(next) };
  if (grace === 0 && !isHeld(next)) return { object: server.store.remove(type.storage, next).object, isGone: true };
  return { object: server.store.put(type.storage, next).object, isGone: false };
}

function markDeleted(object: KubeObject, grace: number, now: number): void {
  const { metadata, kind } = object;
  const isShorter = metadata.deletionTimestamp === undefined || grace < (metadata.deletionGracePeriodSeconds ?? 0);
  if (!isShorter) return;
  metadata.deletionTimestamp = timeText(now + grace * 1000);
  metadata.deletionGracePeriodSeconds = grace;
  if (kind === 'Pod' && metadata.generation !== undefined) metadata.generation += 1;
  if (kind === 'Namespace') fieldsOf(object)['status'] = { ...fieldsAt(object, 'status'), phase: 'Terminating' };
}

/** Whether finalizers must complete before the object is removed. */
function isHeld(object: KubeObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return true;
  const finalizers = fieldsAt(object, 'spec')['finalizers'];
  return object.kind === 'Namespace' && Array.isArray(finalizers) && finalizers.length > 0;
}

/** The propagation policy becomes a finalizer, which the garbage collector handles. */
function finalizersAfter({ metadata }: KubeObject, { propagationPolicy }: DeleteOptions): string[] {
  const others = (metadata.finalizers ?? []).filter((name) => name !== 'orphan' && name !== 'foregroundDeletion');
  if (propagationPolicy === 'Orphan') return [...others, 'orphan'];
  if (propagationPolicy === 'Foreground') return [...others, 'foregroundDeletion'];
  return propagationPolicy === 'Background' ? others : [...(metadata.finalizers ?? [])];
}

/** Throws 422 for options that contradict themselves. */
export function checkDeleteOptions(options: DeleteOptions): void {
  if (options.errors.length > 0)
    throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', options.errors);
}

/** DELETE of a collection: deletes each selected object individually. Returns their previous states. */
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
