import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What a kustomization of deploy/ may say. */
export interface Kustomization {
  readonly resources: readonly string[];
  readonly components: readonly string[];
  readonly patches: readonly Patch[];
  readonly labels: readonly { readonly pairs: Readonly<Record<string, string>> }[];
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
}

/**
 * Changes the objects that match all patterns of the target; each pattern must match the whole name. Without a target,
 * the patch names its object itself, and kustomize refuses it where there is no such object.
 */
export interface Patch {
  readonly target?: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly patch: string;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  resources: [],
  components: [],
  patches: ['target', 'patch'],
  labels: ['pairs'],
  images: ['name', 'newTag'],
};
const TARGET = ['kind', 'name', 'namespace'];

/** Reads the kustomization of a folder. Throws on what kustomize would do and the build here does not. */
export function readKustomization(folder: string): Kustomization {
  const path = join(folder, 'kustomization.yaml');
  const { apiVersion, kind, ...fields } = parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>;
  if (String(apiVersion).split('/')[0] !== 'kustomize.config.k8s.io')
    throw new Error(`cannot build ${path}: it is a ${String(apiVersion)} ${String(kind)}`);
  const unknown = unknownFields(fields);
  if (unknown.length > 0) throw new Error(`cannot build ${path}: ${unknown.join(', ')} can only be built by kustomize`);
  return { resources: [], components: [], patches: [], labels: [], images: [], ...fields };
}

function unknownFields(fields: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const known = KEYS[name];
    if (known === undefined) return [name];
    const items = known.length === 0 ? [] : (value as readonly object[]);
    return [
      ...items.flatMap((item) => others(item, known).map((key) => `${name}.${key}`)),
      ...items.flatMap((item) => others('target' in item ? item.target : {}, TARGET).map((key) => `target.${key}`)),
    ];
  });
}

function others(item: unknown, known: readonly string[]): readonly string[] {
  return Object.keys(item as object).filter((key) => !known.includes(key));
}
