import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at } from '#test/contract/harness.ts';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

/** Paths at which a live object differs from a manifest. */
export type Diff = (manifest: unknown, live: unknown) => readonly string[];

/**
 * Compares as a tool does that merges manifests on its own side (`kubectl apply` without `--server-side`, Argo CD without
 * server-side diff): fields that a manifest does not name are left alone, lists are merged where Kubernetes names a key for
 * it and are compared as a whole elsewhere, and no value is normalized.
 */
export async function threeWayDiff(client: KubeClient): Promise<Diff> {
  const answer = await client.request({ path: '/openapi/v2' });
  const definitions = at(answer, 'object.definitions') as Readonly<Record<string, Schema>>;
  const resolve = (schema: Schema | undefined): Schema =>
    schema?.$ref === undefined ? (schema ?? {}) : resolve(definitions[schema.$ref.replace('#/definitions/', '')]);

  function schemaOf(manifest: unknown): Schema {
    const [group, version] = splitVersion(String(at(manifest, 'apiVersion')));
    // Custom resources, and their definitions, are merged as plain JSON.
    if (group.includes('.dev') || group === 'apiextensions.k8s.io') return {};
    const kind = at(manifest, 'kind');
    const found = Object.values(definitions).find((each) =>
      each['x-kubernetes-group-version-kind']?.some(
        (known) => known.group === group && known.version === version && known.kind === kind,
      ),
    );
    return found ?? {};
  }

  function compare(wanted: unknown, live: unknown, given: Schema | undefined, path: string): readonly string[] {
    if (Array.isArray(wanted)) return compareLists(wanted, live, given, path);
    if (typeof wanted !== 'object' || wanted === null) return wanted === live ? [] : [path];
    const schema = resolve(given);
    return Object.entries(wanted).flatMap(([key, value]) =>
      compare(value, fieldAt(live, key), schema.properties?.[key] ?? schema.additionalProperties, `${path}.${key}`),
    );
  }

  function compareLists(wanted: readonly unknown[], live: unknown, given: Schema | undefined, path: string) {
    const key = given?.['x-kubernetes-patch-merge-key'];
    if (key === undefined || given?.['x-kubernetes-patch-strategy']?.includes('merge') !== true)
      return isDeepStrictEqual(wanted, live) ? [] : [path];
    const present = Array.isArray(live) ? (live as readonly unknown[]) : [];
    return wanted.flatMap((item) => {
      const name = fieldAt(item, key);
      const found = present.find((each) => fieldAt(each, key) === name);
      return compare(item, found, given.items, `${path}[${String(name)}]`);
    });
  }

  return (manifest, live) => compare(manifest, live, schemaOf(manifest), '');
}

function splitVersion(apiVersion: string): readonly [group: string, version: string] {
  const [first = '', second] = apiVersion.split('/');
  return second === undefined ? ['', first] : [first, second];
}

function fieldAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
