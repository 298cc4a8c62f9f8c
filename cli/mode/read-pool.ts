import { decodeNodePressure } from '#shared/api/decode-node-pressure.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf, isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES } from '#shared/kube/resource.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { type Manifest, nameOf } from '#cli/manifests/manifest.ts';
import type { ModeQuestion } from './plan-mode.ts';

/** What decides the mode of a cluster's nodes, and what their agents report. */
export type Pool = Omit<ModeQuestion, 'mode'> & { readonly pressures: readonly NodePressure[] };

/** Reads it; the API server itself says which nodes a selector matches. Rejects with an InputError. */
export async function readPool(client: KubeClient, labelSelector: string): Promise<Pool> {
  const [nodes, selected, policies, pressures] = await Promise.all([
    listAll(client, NODES, { slim: identityOf }),
    listAll(client, NODES, { slim: identityOf, labelSelector }),
    listAll(client, NODE_PRESSURE_POLICIES),
    listAll(client, NODE_PRESSURES),
  ]);
  return {
    nodes: nodes.map((each) => ({ name: nameOf(each), labels: labelsOf(each) })),
    selected: new Set(selected.map(nameOf)),
    policies: policies.map(({ raw }) => raw as KubeObject),
    pressures: pressures.map(({ raw }) => decodeNodePressure(raw)),
  };
}

function identityOf({ metadata }: Manifest['raw']): Manifest['raw'] {
  return { metadata: { name: fieldOf(metadata, 'name'), labels: fieldOf(metadata, 'labels') } };
}

function labelsOf({ raw }: Manifest): ReadonlyMap<string, string> {
  const labels = fieldOf(raw['metadata'], 'labels');
  return new Map(Object.entries(isRecord(labels) ? labels : {}).map(([key, value]) => [key, String(value)]));
}
