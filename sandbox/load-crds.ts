import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { KubeClient } from '#shared/kube/client.ts';
import { createObject } from '#shared/kube/objects.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '#shared/kube/resource.ts';

const CRDS = new URL('../deploy/crds/', import.meta.url);

/** Creates Plimsoll's own kinds, from the very files that are installed in a cluster. */
export async function loadCrds(client: KubeClient): Promise<void> {
  const files = (await readdir(CRDS)).filter((name) => name.startsWith('plimsoll.dev_'));
  await Promise.all(files.map((file) => loadCrd(client, file)));
}

async function loadCrd(client: KubeClient, file: string): Promise<void> {
  const definition: unknown = parse(await readFile(new URL(file, CRDS), 'utf8'));
  const created = await createObject(client, { resource: CUSTOM_RESOURCE_DEFINITIONS }, definition);
  if (created.kind !== 'ok') throw new Error(`Could not load ${file}: ${created.message}`);
}
