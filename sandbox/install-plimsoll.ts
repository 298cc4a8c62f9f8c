import { readdir, readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import {
  ADMISSION_POLICIES,
  ADMISSION_POLICY_BINDINGS,
  CUSTOM_RESOURCE_DEFINITIONS,
  NAMESPACES,
  type Resource,
} from '#shared/kube/resource.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';

const CRDS = new URL('../deploy/crds/', import.meta.url);
const OTHERS = ['namespaces.yaml', 'webhook/admission-policies.yaml'];
const BASE = new URL('../deploy/base/', import.meta.url);
const RESOURCES = [CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, ADMISSION_POLICIES, ADMISSION_POLICY_BINDINGS];

/** Creates Plimsoll's kinds, namespaces and admission policies from the files that are installed in a cluster. */
export async function installPlimsoll(client: KubeClient): Promise<void> {
  const files = (await readdir(CRDS)).filter((name) => name.startsWith('plimsoll.dev_'));
  await Promise.all(files.map((file) => createAll(client, new URL(file, CRDS))));
  for (const file of OTHERS) await createAll(client, new URL(file, BASE));
}

async function createAll(client: KubeClient, file: URL): Promise<void> {
  for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
    const object: unknown = document.toJS();
    const created = await createObject(client, { resource: resourceOf(object) }, object);
    if (created.kind !== 'ok') throw new Error(`cannot install ${file.pathname}: ${created.message}`);
  }
}

function resourceOf(object: unknown): Resource {
  const kind = fieldOf(object, 'kind');
  const found = RESOURCES.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`cannot install an object of kind ${JSON.stringify(kind)}`);
  return found;
}
