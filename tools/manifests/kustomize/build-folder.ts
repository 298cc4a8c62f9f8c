import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest, PlainMap } from '#tools/manifests/manifest.ts';
import { inInstallOrder } from './install-order.ts';
import { readKustomization } from './kustomization.ts';
import { patchObjects } from './patch-objects.ts';

/**
 * The objects that `kubectl kustomize` makes of a folder of deploy/, without kubectl: so that manifests and chart can be
 * made offline and in memory. test/cluster/installed/chart.test.ts compares them with those of kubectl. Folders that share
 * files are built faster with one map of what was read.
 */
export function buildFolder(folder: string, read: ReadFiles = new Map()): readonly Manifest[] {
  return inInstallOrder(build(folder, [], read));
}

type ReadFiles = Map<string, readonly Manifest[]>;

/** A component changes what was there before it as well. */
function build(folder: string, before: readonly Manifest[], read: ReadFiles): readonly Manifest[] {
  const { resources, components, patches, labels, images } = readKustomization(folder);
  let objects = [...before, ...resources.flatMap((name) => resource(join(folder, name), read))];
  for (const component of components) objects = [...build(join(folder, component), objects, read)];
  rejectDuplicates(folder, objects);
  for (const patch of patches) objects = [...patchObjects(folder, objects, patch)];
  for (const { pairs } of labels) objects = objects.map((each) => withLabels(each, pairs));
  for (const { name, newTag } of images) objects = objects.map((each) => withTag(each, name, newTag) as Manifest);
  return objects;
}

function resource(path: string, read: ReadFiles): readonly Manifest[] {
  const objects = read.get(path) ?? (path.endsWith('.yaml') ? readObjects(path) : build(path, [], read));
  read.set(path, objects);
  return objects;
}

function readObjects(path: string): readonly Manifest[] {
  // As kubectl reads it: 0440 is octal.
  const documents = parseAllDocuments(readFileSync(path, 'utf8'), { version: '1.1' });
  return documents.map((each) => each.toJS() as Manifest | null).filter((each) => each !== null);
}

function rejectDuplicates(folder: string, objects: readonly Manifest[]): void {
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`cannot build ${folder}: ${twice} is there twice`);
}

function withLabels(object: Manifest, pairs: PlainMap): Manifest {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...pairs } } };
}

/** The tag of an image, wherever containers are listed. */
function withTag(value: unknown, image: string, tag: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withTag(each, image, tag));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, child]: [string, unknown]) => {
    const isImage = key === 'image' && typeof child === 'string' && child.replace(/[:@].*$/, '') === image;
    return [key, isImage ? `${image}:${tag}` : withTag(child, image, tag)];
  });
  return Object.fromEntries(entries);
}
