import { randomUUID, randomInt } from 'node:crypto';
import { untypedError } from '#sandbox/api-server/errors/errors.ts';
import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import { fieldsOf, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';
import { checkNamespace, nameMismatch } from './check-identity.ts';

/** The fields that only the server sets. */
const SERVER_FIELDS = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
  'managedFields',
  'resourceVersion',
];

/** Removes from a new object what a client may not set. Throws 400 and 500 for contradictions to the path. */
export function clearServerFields({ type, namespace, name }: ApiRequest, object: KubeObject): void {
  const { metadata } = object;
  if ((metadata.resourceVersion ?? '') !== '') {
    throw untypedError('resourceVersion should not be set on objects to be created');
  }
  checkNamespace(namespace, object);
  if (name !== '' && metadata.name !== name) throw nameMismatch(metadata.name, name);
  if (type.namespaced) metadata.namespace = namespace;
  for (const field of SERVER_FIELDS) Reflect.deleteProperty(metadata, field);
  clearStatus(type, object);
}

/** A custom resource has no status until one is written; built-in kinds have an empty one. */
function clearStatus({ behaviour, openApi }: ResourceType, object: KubeObject): void {
  if (!behaviour.hasStatus || behaviour.isCreatedWithStatus) return;
  if (openApi !== undefined) Reflect.deleteProperty(object, 'status');
  else if (fieldsOf(object)['status'] !== undefined) fieldsOf(object)['status'] = {};
}

/** Gives a new object its identity and the defaults of its kind. `creationTimestamp` as text. */
export function giveIdentity(type: ResourceType, object: KubeObject, creationTimestamp: string): void {
  const { name, generateName: prefix = '', namespace, ...rest } = object.metadata;
  object.metadata = {
    name: name === '' && prefix !== '' ? generateName(prefix) : name,
    ...(prefix === '' ? {} : { generateName: prefix }),
    ...(namespace === undefined ? {} : { namespace }),
    uid: randomUUID(),
    ...(type.behaviour.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp,
    ...rest,
  };
  type.behaviour.prepareCreate(object);
}

/** Without vowels and digits that look like letters, so that no words are formed. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** A name from `generateName`: the prefix and five random characters. apiserver `pkg/storage/names/generate.go`. */
function generateName(prefix: string): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  return prefix.slice(0, MAX_BASE_LENGTH) + suffix;
}
