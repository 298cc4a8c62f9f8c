import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Attempt } from './attempt.ts';

/** Something that the API server knows verbs for. */
export type Thing = Pick<Attempt, 'group' | 'resource' | 'subresource'> & { readonly isNamespaced: boolean };

/** What kubelets check and no API server lists. */
const KUBELET_SUBRESOURCES = ['stats', 'metrics', 'log', 'spec', 'checkpoint', 'configz', 'healthz', 'pods'];

/** Every resource and subresource of every version that is served, each group once per resource. */
export async function discover(client: KubeClient): Promise<readonly Thing[]> {
  const groups = (await read(client, '/apis'))['groups'] as readonly {
    name: string;
    versions: { version: string }[];
  }[];
  const versions = groups.flatMap(({ name, versions }) =>
    versions.map(({ version }) => ({ group: name, path: `/apis/${name}/${version}` })),
  );
  const lists = [{ group: '', path: '/api/v1' }, ...versions].map(async ({ group, path }) => {
    const resources = (await read(client, path))['resources'] as readonly { name: string; namespaced: boolean }[];
    return resources.map(({ name, namespaced }) => thingOf(group, name, namespaced));
  });
  const ofKubelets = KUBELET_SUBRESOURCES.map((name) => thingOf('', `nodes/${name}`, false));
  const all = [...ofKubelets, ...(await Promise.all(lists)).flat()];
  return [...new Map(all.map((thing) => [JSON.stringify(thing), thing])).values()];
}

function thingOf(group: string, name: string, isNamespaced: boolean): Thing {
  const [resource = '', subresource = ''] = name.split('/');
  return { group, resource, subresource, isNamespaced };
}

async function read(client: KubeClient, path: string): Promise<Readonly<Record<string, unknown>>> {
  const outcome = await client.request({ path });
  if (outcome.kind !== 'ok') throw new Error(`cannot read ${path}: ${outcome.message}`);
  return outcome.object as Readonly<Record<string, unknown>>;
}
