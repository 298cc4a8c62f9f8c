import KNOWN_FIELDS from './known-fields.json' with { type: 'json' };
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import {
  type PriorityClass,
  type PriorityPolicy,
  SERVICE_ACCOUNT_PREFIX,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodeNamespace, decodePriorityClass, decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { type Decoded, isRecord } from '#shared/kube/decode/wire-object.ts';
import {
  apiVersionOf,
  NAMESPACES,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  RESOURCE_QUOTAS,
  type Resource,
} from '#shared/kube/resource.ts';
import { decodeCountedQuota, type CountedQuota } from '#cli/cluster/cluster-model.ts';
import { InputError } from '#cli/process-io.ts';
import { nameOf, namespaceOf, typeOf, type Manifest } from '#cli/manifests/parse-manifests.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { nearestName } from '#shared/runtime/settings.ts';

/** The objects that decide about pods, by name; ResourceQuotas by namespace and name. */
export interface ReviewState {
  readonly classes: Map<string, PriorityClass>;
  readonly namespaces: Map<string, Namespace>;
  readonly policies: Map<string, PriorityPolicy>;
  readonly priorityQuotas: Map<string, CountedQuota>;
  readonly resourceQuotas: Map<string, ResourceQuota>;
}

/** The kinds read from files and from the cluster. */
export const SURROUNDING_RESOURCES: readonly Resource[] = [
  PRIORITY_CLASSES,
  NAMESPACES,
  RESOURCE_QUOTAS,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
];

/** The classes that every API server makes for itself. */
const SYSTEM_CLASSES = { 'system-cluster-critical': 2_000_000_000, 'system-node-critical': 2_000_001_000 };

type Add = (state: ReviewState, manifest: Manifest, namespace: string) => void;

const ADD: ReadonlyMap<string, Add> = new Map([
  entry(PRIORITY_CLASSES, ({ classes }, manifest) => {
    classes.set(nameOf(manifest), decode(manifest, decodePriorityClass));
  }),
  entry(NAMESPACES, ({ namespaces }, manifest) => {
    namespaces.set(nameOf(manifest), decode(manifest, decodeNamespace));
  }),
  entry(PRIORITY_POLICIES, ({ policies }, manifest) => {
    policies.set(nameOf(manifest), decode(manifest, decodePriorityPolicy));
  }),
  entry(PRIORITY_QUOTAS, ({ priorityQuotas }, manifest) => {
    priorityQuotas.set(nameOf(manifest), decode(manifest, decodeCountedQuota));
  }),
  entry(RESOURCE_QUOTAS, ({ resourceQuotas }, manifest, fallback) => {
    const namespace = namespaceOf(manifest, fallback);
    resourceQuotas.set(`${namespace}/${nameOf(manifest)}`, { ...decode(manifest, decodeResourceQuota), namespace });
  }),
]);

/** Whether objects of this kind decide about others. */
export function isSurrounding(manifest: Manifest): boolean {
  return ADD.has(typeOf(manifest));
}

/**
 * Reads the objects that decide about others; the last of several objects with the same name counts. `namespace` is
 * used for quotas that name none. Throws an InputError that names object and field.
 */
export function readReviewState(manifests: readonly Manifest[], namespace: string): ReviewState {
  const state: ReviewState = {
    classes: new Map(Object.entries(SYSTEM_CLASSES).map(([name, value]) => [name, systemClass(name, value)])),
    namespaces: new Map(),
    policies: new Map(),
    priorityQuotas: new Map(),
    resourceQuotas: new Map(),
  };
  for (const manifest of manifests) {
    if (nameOf(manifest) === '') throw faulty(manifest, 'metadata.name', 'expected a name');
    ADD.get(typeOf(manifest))?.(state, manifest, namespace);
  }
  return state;
}

function entry(resource: Resource, add: Add): readonly [string, Add] {
  return [typeOf({ apiVersion: apiVersionOf(resource), kind: resource.kind }), add];
}

function systemClass(name: string, value: number): PriorityClass {
  return { name, uid: '', value, isGlobalDefault: false, preemptionPolicy: 'PreemptLowerPriority' };
}

function decode<T>(manifest: Manifest, read: (raw: unknown) => Decoded<T>): T {
  const decoded = read(manifest.raw);
  if (decoded.ok) return decoded.value;
  throw faulty(manifest, decoded.field, decoded.message);
}

function faulty(manifest: Manifest, field: string, message: string): InputError {
  return new InputError(`${manifest.where}: ${manifest.kind} "${nameOf(manifest)}": ${field}: ${message}`);
}

const AUTHENTICATED = 'system:authenticated';
const SERVICE_ACCOUNT = new RegExp(`^${SERVICE_ACCOUNT_PREFIX}([^:]+):[^:]+$`);

/** A requester by name, with the groups that the API server adds by itself. Without a name the requester is unknown. */
export function requesterOf(name = '', groups: readonly string[] = []): Requester {
  const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
  const implied = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name, groups: [...new Set([...groups, ...implied, AUTHENTICATED])] };
}

/** Fields by name, `*` for any name; a list has the fields of its items. `true` for a value without fields. */
export interface FieldTree {
  readonly [field: string]: FieldTree | boolean;
}

const ANY = '*';
const KINDS: ReadonlyMap<string, FieldTree> = new Map(Object.entries<FieldTree>(KNOWN_FIELDS));

/**
 * Throws an InputError for an unknown field of one of our kinds, with the most similar known name: a misspelt selector
 * would select everything. Objects of other kinds are not checked.
 */
export function expectKnownFields(manifest: Manifest): void {
  const { apiVersion, kind, raw, where } = manifest;
  const tree = apiVersion === API_VERSION ? KINDS.get(kind) : undefined;
  const unknown = tree && unknownField(raw, tree, '');
  if (unknown !== undefined) throw new InputError(`${where}: ${kind} ${nameOf(manifest)}: ${unknown}`);
}

function unknownField(value: unknown, tree: FieldTree | boolean, path: string): string | undefined {
  if (typeof tree === 'boolean') return undefined;
  if (Array.isArray(value)) return first(value, (item, index) => unknownField(item, tree, `${path}[${index}]`));
  if (!isRecord(value)) return undefined;
  return first(Object.entries(value), ([name, field]) => {
    const known = Object.hasOwn(tree, name) ? tree[name] : tree[ANY];
    const here = path === '' ? name : `${path}.${name}`;
    return known === undefined ? describe(here, name, Object.keys(tree)) : unknownField(field, known, here);
  });
}

function first<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describe(path: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return `unknown field "${path}"${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`;
}
