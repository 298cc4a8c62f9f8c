import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import { unknownResource } from '#sandbox/api-server/errors/errors.ts';
import { UnknownPathError } from '#sandbox/api-server/errors/status-error.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import type { ResourceType, SubresourceName } from '#sandbox/api-server/resource-type.ts';

/** The parts of a path. */
export interface Route extends Pick<ApiRequest, 'type' | 'namespace' | 'name' | 'subresource'> {
  /** The old form `/api/v1/watch/pods`. */
  readonly isWatchPath: boolean;
}

/**
 * Reads a path below `/api` or `/apis`. Throws 404 if it names nothing, UnknownPathError if not even the group is
 * known.
 */
export function parseRoute(catalog: Catalog, path: string): Route {
  const segments = path.split('/').slice(1).map(decode);
  const isCore = segments[0] === 'api';
  if (!isCore && segments[0] !== 'apis') throw new UnknownPathError();
  const [group, version, rest] = isCore
    ? ['', segments[1], segments.slice(2)]
    : [segments[1], segments[2], segments.slice(3)];
  if (group === undefined || version === undefined || !catalog.hasGroup(group)) throw new UnknownPathError();
  const isWatchPath = rest[0] === 'watch';
  return {
    ...resolve({ catalog, group, version }, isWatchPath ? rest.slice(1) : rest),
    isWatchPath,
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new UnknownPathError();
  }
}

interface RoutePlace {
  readonly catalog: Catalog;
  readonly group: string;
  readonly version: string;
}

/** `namespaces/NAME/…` is a namespace for what follows, unless what follows is a subresource of the namespace itself. */
function resolve(place: RoutePlace, segments: readonly string[]): Omit<Route, 'isWatchPath'> {
  const [first = '', namespace = '', plural = ''] = segments;
  const inNamespace =
    first === 'namespaces' && segments.length >= 3 && !(place.group === '' && isNamespaceSubresource(plural));
  return inNamespace ? named(place, namespace, segments.slice(2)) : named(place, '', segments);
}

function isNamespaceSubresource(segment: string): boolean {
  return segment === 'status' || segment === 'finalize';
}

function named(
  { catalog, group, version }: RoutePlace,
  namespace: string,
  segments: readonly string[],
): Omit<Route, 'isWatchPath'> {
  const [plural = '', name = '', subresource = '', ...more] = segments;
  const type = catalog.find(group, version, plural);
  const isMalformed = more.length > 0 || (segments.length > 1 && name === '');
  if (type === undefined || isMalformed || !isInScope(type, namespace, name)) throw unknownResource();
  return { type, namespace, name, subresource: checkedSubresource(type, subresource) };
}

/** An object of a namespaced kind needs a namespace, any other kind has none. */
function isInScope({ namespaced }: ResourceType, namespace: string, name: string): boolean {
  return namespaced ? namespace !== '' || name === '' : namespace === '';
}

function checkedSubresource(type: ResourceType, name: string): SubresourceName | '' {
  if (name === '') return '';
  const known = type.subresources.find((subresource) => subresource.name === name);
  if (known === undefined) throw unknownResource();
  return known.name;
}
