import type { KubeClient } from '#shared/kube/client/client.ts';
import { otherGates } from '#shared/kube/annotations/annotations.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  NAMESPACES,
  NODES,
  OUR_KINDS,
  PODS,
  type Resource,
  resourceLabel,
} from '#shared/kube/resource.ts';
import { ADMISSION_RESOURCES, COMPONENT_RESOURCES, WORKLOAD_RESOURCES } from '#cli/cluster/installed-resources.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';

/** Plimsoll's objects in a cluster. */
export interface Installation {
  /** In the order of removal. */
  readonly installed: readonly (readonly [Resource, readonly Manifest[]])[];
  /** By the name of the definition. */
  readonly objects: ReadonlyMap<string, number>;
  readonly definitions: readonly Manifest[];
  readonly nodes: readonly Manifest[];
  readonly namespaces: readonly Manifest[];
  /** How many pods wait behind the scheduling gate of queues. */
  readonly waitingPods: number;
  /** Namespace and name of the pods whose CPU limits the agents have lowered. */
  readonly throttledPods: readonly string[];
}

type Raw = Manifest['raw'];

const labelSelector = 'app.kubernetes.io/part-of=plimsoll';
const REMOVED = [...ADMISSION_RESOURCES, ...WORKLOAD_RESOURCES, ...COMPONENT_RESOURCES, NAMESPACES];

/** Reads them, without the contents of Secrets and the like. Rejects with an InputError if a kind cannot be listed. */
export async function readInstallation(client: KubeClient): Promise<Installation> {
  const listKind = async (resource: Resource) =>
    [resource, await listAll(client, resource, { labelSelector, slim: identityOf })] as const;
  const listOurs = async (resource: Resource) =>
    [resourceLabel(resource), await listAll(client, resource, { slim: throttledIn })] as const;
  const [installed, ours, definitions, nodes, namespaces, pods] = await Promise.all([
    Promise.all(REMOVED.map(listKind)),
    Promise.all(OUR_KINDS.map(listOurs)),
    listAll(client, CUSTOM_RESOURCE_DEFINITIONS, { labelSelector, slim: identityOf }),
    listAll(client, NODES, { slim: marksOf }),
    listAll(client, NAMESPACES, { slim: identityOf }),
    listAll(client, PODS, { slim: gatesOf }),
  ]);
  const waitingPods = pods.filter(({ raw }) => otherGates(raw) !== undefined).length;
  const objects = new Map(ours.map(([name, list]) => [name, list.length]));
  const throttledPods = ours.flatMap(([, list]) => list.flatMap(({ raw }) => podsThrottledIn(raw)));
  return { installed, objects, definitions, nodes, namespaces, waitingPods, throttledPods };
}

function identityOf({ metadata }: Raw): Raw {
  const fields = ['name', 'namespace', 'labels'].map((field) => [field, fieldOf(metadata, field)] as const);
  return { metadata: Object.fromEntries(fields) };
}

function throttledIn(raw: Raw): Raw {
  return { ...identityOf(raw), status: { throttled: fieldOf(raw['status'], 'throttled') } };
}

/** What an agent writes is text of any kind. */
const POD = /^[a-z0-9-]+\/[a-z0-9.-]+$/;

function podsThrottledIn(raw: Raw): readonly string[] {
  const pods = itemsOf(fieldOf(raw['status'], 'throttled')).map((each) => String(fieldOf(each, 'pod')));
  return pods.filter((each) => POD.test(each));
}

function gatesOf(raw: Raw): Raw {
  return { ...identityOf(raw), spec: { schedulingGates: fieldOf(raw['spec'], 'schedulingGates') } };
}

function marksOf(raw: Raw): Raw {
  const { capacity, allocatable } = isRecord(raw['status']) ? raw['status'] : {};
  return {
    ...identityOf(raw),
    spec: { taints: fieldOf(raw['spec'], 'taints') },
    status: { capacity, allocatable },
  };
}
