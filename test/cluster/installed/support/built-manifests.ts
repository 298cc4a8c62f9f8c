import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { at, textAt } from '#test/contract/harness.ts';

const DEPLOY = fileURLToPath(new URL('../../../../deploy/', import.meta.url));

/** The objects that `kubectl kustomize` makes of a folder of deploy/. */
export async function builtManifests(kubeconfig: string, folder: string): Promise<readonly unknown[]> {
  const { status, stdout, stderr } = await kubectl(kubeconfig, ['kustomize', `${DEPLOY}${folder}`]);
  expect([status, stderr]).toEqual([0, '']);
  return parseAllDocuments(stdout).map((document) => document.toJS() as unknown);
}

/** `Kind namespace/name` of a manifest. */
export function nameOf(object: unknown): string {
  const { namespace, name } = at(object, 'metadata') as { readonly namespace?: string; readonly name: string };
  return `${textAt(object, 'kind')} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
