import {
  fieldsAt,
  fieldsOf,
  listAt,
  type Fields,
  type KubeObject,
  type Metadata,
} from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';

/** What no update changes. */
const FIXED_METADATA = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'generateName',
  'namespace',
  'resourceVersion',
] as const;

/** Kinds whose status writers also set labels and annotations. */
const OPEN_STATUS = new Set(['pods', 'nodes']);

/** Puts back what this kind of request may not change: fixed metadata, and either the status or all but the status. */
export function restoreFields({ type, subresource }: ApiRequest, current: KubeObject, next: KubeObject): void {
  for (const name of FIXED_METADATA) restore(next.metadata, current.metadata, name);
  if (subresource === 'status') keepAllBut('status', current, next, OPEN_STATUS.has(type.plural));
  else if (subresource === 'finalize') keepAllBut('spec', current, next, true);
  else if (subresource === 'resize') keepAllButResources(current, next);
  else if (subresource === '' && type.behaviour.hasStatus) restore(next, current, 'status');
}

function restore(target: object, source: object, name: string): void {
  const value = fieldsOf(source)[name];
  if (value === undefined) Reflect.deleteProperty(target, name);
  else fieldsOf(target)[name] = value;
}

function keepAllBut(changed: string, current: KubeObject, next: KubeObject, isMetadataOpen: boolean): void {
  for (const name of new Set([...Object.keys(current), ...Object.keys(next)])) {
    if (name !== changed && name !== 'metadata') restore(next, current, name);
  }
  if (!isMetadataOpen) next.metadata = closedMetadata(current.metadata, next.metadata);
}

function closedMetadata(current: Metadata, { managedFields }: Metadata): Metadata {
  return { ...current, ...(managedFields === undefined ? {} : { managedFields }) };
}

/** A resize changes what the containers ask for, nothing else. `pkg/registry/core/pod/strategy.go` podResizeStrategy. */
function keepAllButResources(current: KubeObject, next: KubeObject): void {
  const asked = fieldsAt(next, 'spec');
  keepAllBut('', current, next, false);
  const spec = { ...fieldsAt(current, 'spec') };
  for (const list of ['containers', 'initContainers']) {
    if (spec[list] !== undefined)
      spec[list] = listAt(spec, list).map((container) => resized(container, listAt(asked, list)));
  }
  fieldsOf(next)['spec'] = spec;
}

function resized(container: Fields, asked: readonly Fields[]): Fields {
  const wanted = asked.find(({ name }) => name === container['name']);
  return wanted?.['resources'] === undefined ? container : { ...container, resources: wanted['resources'] };
}
