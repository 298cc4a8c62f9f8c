import { readdir, readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '#shared/kube/client.ts';
import { createObject } from '#shared/kube/objects.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, type Resource } from '#shared/kube/resource.ts';

const CRDS = new URL('../deploy/crds/', import.meta.url);
const NAMESPACE_FILE = new URL('../deploy/base/namespaces.yaml', import.meta.url);

/** Creates Plimsoll's kinds and namespaces, from the very files that are installed in a cluster. */
export async function installPlimsoll(client: KubeClient): Promise<void> {
  const files = (await readdir(CRDS)).filter((name) => name.startsWith('plimsoll.dev_'));
  await Promise.all(files.map((file) => createFrom(client, CUSTOM_RESOURCE_DEFINITIONS, new URL(file, CRDS))));
  await createFrom(client, NAMESPACES, NAMESPACE_FILE);
}

async function createFrom(client: KubeClient, resource: Resource, file: URL): Promise<void> {
  for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
    const created = await createObject(client, { resource }, document.toJS());
    if (created.kind !== 'ok') throw new Error(`cannot install ${file.pathname}: ${created.message}`);
  }
}
