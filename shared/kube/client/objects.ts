import type { KubeClient } from './client.ts';
import { isKubeObject, type KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import type { Failure, Outcome } from './outcome.ts';
import { PODS, type Resource, resourcePath } from '#shared/kube/resource.ts';

/** One object, or one of its subresources (`status`, `scale`, `binding` …). */
export interface ObjectAddress {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly subresource?: string;
}

/** All objects of a kind, in one namespace or in all. */
export interface CollectionAddress {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
}

/** Each call ends after `timeoutMs` or with `signal`. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export interface PatchOptions extends WriteOptions {
  readonly type: keyof typeof PATCH_CONTENT_TYPES;
}

export interface ListOptions extends CallOptions {
  readonly labelSelector?: string;
  readonly limit?: number;
  readonly continueToken?: string;
  /**
   * `0` reads from the API server's cache. Without it, the server waits until the cache is current, which takes up to
   * 0.1 s.
   */
  readonly resourceVersion?: '0';
}

export interface ObjectList {
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
  readonly items: readonly KubeObject[];
}

export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

const PATCH_CONTENT_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** Reads one object from storage. */
export async function getObject(
  client: KubeClient,
  address: ObjectAddress,
  options: CallOptions = {},
): Promise<Outcome<KubeObject>> {
  return asObject(await client.request({ ...options, path: resourcePath(address.resource, address) }));
}

/** Reads one page of a collection; use a reflector for large ones. */
export async function listObjects(
  client: KubeClient,
  collection: CollectionAddress,
  options: ListOptions = {},
): Promise<Outcome<ObjectList>> {
  const { signal, timeoutMs, continueToken, ...query } = options;
  const path = resourcePath(collection.resource, { namespace: collection.namespace });
  return asList(
    await client.request({ ...call(signal, timeoutMs), path, query: { ...query, continue: continueToken } }),
  );
}

/** Creates an object; with `metadata.generateName` the server chooses the name. */
export async function createObject(
  client: KubeClient,
  collection: CollectionAddress,
  object: unknown,
  options: WriteOptions = {},
): Promise<Outcome<KubeObject>> {
  const path = resourcePath(collection.resource, { namespace: collection.namespace });
  return asObject(await client.request({ ...writing(options), method: 'POST', path, body: object }));
}

/** Replaces a whole object. A `metadata.resourceVersion` in it makes the write conditional. */
export async function replaceObject(
  client: KubeClient,
  address: ObjectAddress,
  object: unknown,
  options: WriteOptions = {},
): Promise<Outcome<KubeObject>> {
  const path = resourcePath(address.resource, address);
  return asObject(await client.request({ ...writing(options), method: 'PUT', path, body: object }));
}

/** Patches an object; fields that the patch does not name are unchanged. */
export async function patchObject(
  client: KubeClient,
  address: ObjectAddress,
  patch: unknown,
  options: PatchOptions,
): Promise<Outcome<KubeObject>> {
  const request = {
    ...writing(options),
    method: 'PATCH',
    path: resourcePath(address.resource, address),
    contentType: PATCH_CONTENT_TYPES[options.type],
    body: patch,
  } as const;
  return asObject(await client.request(request));
}

/** Deletes an object. Pods are rejected here: they are removed only through the Eviction API. */
export async function deleteObject(
  client: KubeClient,
  address: ObjectAddress,
  options: DeleteOptions = {},
): Promise<Outcome<unknown>> {
  if (address.resource.group === '' && address.resource.plural === PODS.plural) return podsAreEvicted(address.name);
  const { uid, resourceVersion, propagationPolicy, ...rest } = options;
  const preconditions = { uid, resourceVersion };
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy };
  return client.request({ ...rest, method: 'DELETE', path: resourcePath(address.resource, address), body });
}

function podsAreEvicted(name: string): Failure {
  return { kind: 'invalid', message: `cannot delete pod "${name}": pods are removed only by eviction` };
}

function writing(options: WriteOptions) {
  const { signal, timeoutMs, fieldManager, dryRun } = options;
  return { ...call(signal, timeoutMs), query: { fieldManager, dryRun: dryRun === true ? 'All' : undefined } };
}

function call(signal: AbortSignal | undefined, timeoutMs: number | undefined): CallOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

function asObject(outcome: Outcome<unknown>): Outcome<KubeObject> {
  if (outcome.kind !== 'ok') return outcome;
  // A binding is answered with a Status, which has metadata without a name.
  if (isRecord(outcome.object) && isRecord(outcome.object['metadata'])) {
    return { ...outcome, object: outcome.object as KubeObject };
  }
  return unexpected('an object with metadata');
}

function asList(outcome: Outcome<unknown>): Outcome<ObjectList> {
  if (outcome.kind !== 'ok') return outcome;
  const list = outcome.object;
  if (!isRecord(list) || !isRecord(list['metadata']) || !Array.isArray(list['items'])) return unexpected('a list');
  if (!list['items'].every(isKubeObject)) return unexpected('a list of objects with names');
  const { resourceVersion, continue: token } = list['metadata'];
  return {
    ...outcome,
    object: {
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      continueToken: typeof token === 'string' && token !== '' ? token : undefined,
      items: list['items'],
    },
  };
}

function unexpected(what: string): Failure {
  return { kind: 'serverError', message: `unexpected answer of the API server: expected ${what}` };
}
