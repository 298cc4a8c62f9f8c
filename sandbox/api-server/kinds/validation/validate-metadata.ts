import { isLabelValue, isQualifiedName } from '#shared/domain/labels/label-selector.ts';
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from '#sandbox/api-server/errors/field-error.ts';
import type { KubeObject, Metadata, OwnerReference } from '#sandbox/api-server/wire/object.ts';
import type { ResourceType } from '#sandbox/api-server/resource-type.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const KEY_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const MAX_SUBDOMAIN_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
const LARGEST_ANNOTATIONS = 256 * 1024;

type NameRule = ResourceType['behaviour']['nameRule'];

/** What is wrong with a name by the rule of its kind; undefined when nothing is. */
export function nameMistake(rule: NameRule, name: string): string | undefined {
  if (rule === 'path') return pathMistake(name);
  const limit = rule === 'label' ? MAX_LABEL_LENGTH : MAX_SUBDOMAIN_LENGTH;
  if (name.length > limit) return `must be no more than ${limit} bytes`;
  if (rule === 'label') return LABEL.test(name) ? undefined : LABEL_TEXT;
  return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_TEXT;
}

function pathMistake(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const stray = ['/', '%'].find((char) => name.includes(char));
  return stray === undefined ? undefined : `may not contain '${stray}'`;
}

/** Checks the metadata of a new object. `apimachinery/pkg/api/validation/objectmeta.go`. */
export function validateMetadata(type: ResourceType, object: KubeObject): FieldError[] {
  const { metadata } = object;
  return [
    ...validateName(type, metadata),
    ...validateLabels(metadata),
    ...validateAnnotations(metadata),
    ...validateOwners(metadata),
    ...validateFinalizers(metadata),
  ];
}

function validateName(type: ResourceType, { name, generateName }: Metadata): FieldError[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')];
  const mistake = nameMistake(type.behaviour.nameRule, name);
  const generated =
    generateName === undefined || generateName === ''
      ? undefined
      : nameMistake(type.behaviour.nameRule, generateName.replace(/[-.]+$/, 'x'));
  return [
    ...(generated === undefined ? [] : [invalidValue('metadata.generateName', generateName, generated)]),
    ...(mistake === undefined ? [] : [invalidValue('metadata.name', name, mistake)]),
  ];
}

function validateLabels({ labels }: Metadata): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...(isQualifiedName(key) ? [] : [invalidValue('metadata.labels', key, KEY_TEXT)]),
    ...labelValueErrors(value),
  ]);
}

function labelValueErrors(value: string): FieldError[] {
  if (isLabelValue(value)) return [];
  const why = value.length > MAX_LABEL_LENGTH ? `must be no more than ${MAX_LABEL_LENGTH} bytes` : LABEL_VALUE_TEXT;
  return [invalidValue('metadata.labels', value, why)];
}

function validateAnnotations({ annotations }: Metadata): FieldError[] {
  const entries = Object.entries(annotations ?? {});
  const size = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const keys = entries
    .filter(([key]) => !isQualifiedName(key.toLowerCase()))
    .map(([key]) => invalidValue('metadata.annotations', key, KEY_TEXT));
  return size > LARGEST_ANNOTATIONS ? [...keys, tooLong('metadata.annotations', LARGEST_ANNOTATIONS)] : keys;
}

function validateOwners({ ownerReferences = [] }: Metadata): FieldError[] {
  const controllers = ownerReferences.filter(({ controller }) => controller === true);
  const tooMany =
    controllers.length > 1
      ? [
          invalidValue(
            'metadata.ownerReferences',
            ownerReferences,
            'Only one reference can have Controller set to true',
          ),
        ]
      : [];
  return [...ownerReferences.flatMap(validateOwner), ...tooMany];
}

function validateOwner(owner: OwnerReference): FieldError[] {
  const names = ['apiVersion', 'kind', 'name', 'uid'] as const;
  const missing = names.filter((name) => (owner[name] as string | undefined) === undefined || owner[name] === '');
  return missing.map((name) => invalidValue(`metadata.ownerReferences.${name}`, '', `${name} must not be empty`));
}

function validateFinalizers({ finalizers = [] }: Metadata): FieldError[] {
  return finalizers
    .filter((finalizer) => !isQualifiedName(finalizer))
    .map((finalizer) => invalidValue('metadata.finalizers', finalizer, KEY_TEXT));
}

/** Checks what an update may not change in the metadata. */
export function validateMetadataUpdate(next: KubeObject, previous: KubeObject): FieldError[] {
  const added = (next.metadata.finalizers ?? []).filter(
    (finalizer) => !(previous.metadata.finalizers ?? []).includes(finalizer),
  );
  if (previous.metadata.deletionTimestamp === undefined || added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  return [
    forbiddenField(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}
