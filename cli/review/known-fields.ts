import { InputError } from '#cli/process-io.ts';
import { type Manifest, nameOf } from '#cli/manifests/parse-manifests.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { nearestName } from '#shared/runtime/settings.ts';
import KNOWN_FIELDS from './known-fields.json' with { type: 'json' };

/** Fields by name, `*` for any name; the items of a list stand for it. What has no fields of its own is `true`. */
export interface FieldTree {
  readonly [field: string]: FieldTree | boolean;
}

const ANY = '*';
const KINDS: ReadonlyMap<string, FieldTree> = new Map(Object.entries<FieldTree>(KNOWN_FIELDS));

/**
 * Throws an InputError for a field of one of our kinds that its definition does not have, with the name that is likely
 * meant: a misspelt selector would select everything. Objects of other kinds pass.
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
