import { parse } from 'yaml';
import { applyJsonPatch, applyStrategicMergePatch } from '#sandbox/api-server/patch/patch.ts';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import type { Patch } from './kustomization.ts';

const DELETE = 'delete';

/** The objects with one patch of a kustomization applied. Throws if it matches none. */
export function patchObjects(folder: string, objects: readonly Manifest[], patch: Patch): readonly Manifest[] {
  const change: unknown = parse(patch.patch, { version: '1.1' });
  const isTarget = targetOf(patch.target ?? namedBy(change as Manifest));
  if (!objects.some(isTarget))
    throw new Error(`cannot build ${folder}: no object matches ${JSON.stringify(patch.target ?? patch.patch)}`);
  return objects.flatMap((object) => (isTarget(object) ? patched(object, change) : [object]));
}

type Target = NonNullable<Patch['target']>;

function namedBy({ kind, metadata: { name, namespace = '' } }: Manifest): Target {
  return { kind, name, namespace };
}

function targetOf(target: Target): (object: Manifest) => boolean {
  const [kind, name, namespace] = [target.kind, target.name, target.namespace].map(
    (pattern) => new RegExp(`^(?:${pattern ?? '.*'})$`),
  );
  return ({ kind: ofKind, metadata }) =>
    kind?.test(ofKind) === true &&
    name?.test(metadata.name) === true &&
    namespace?.test(metadata.namespace ?? '') === true;
}

/** A list is a JSON patch; what else there is, a strategic merge patch. */
function patched(object: Manifest, change: unknown): readonly Manifest[] {
  if (Array.isArray(change)) return [applyJsonPatch(object, change)];
  const { $patch, ...fields } = change as Readonly<Record<string, unknown>>;
  if ($patch === DELETE) return [];
  return [applyStrategicMergePatch(schemaOf(object), object, fields) as Manifest];
}

const definitions = loadDefinitions();

/** By it lists are merged: Kubernetes' Go packages are named by the first word of a group. */
function schemaOf({ apiVersion, kind }: Manifest): ReturnType<typeof definitions.schema> {
  const [version = '', group = 'core'] = apiVersion.split('/').toReversed();
  const schema = definitions.schema(`io.k8s.api.${group.split('.')[0] ?? ''}.${version}.${kind}`);
  if (schema.kind !== 'object') throw new Error(`cannot patch a ${kind} of ${apiVersion}: its fields are not known`);
  return schema;
}
