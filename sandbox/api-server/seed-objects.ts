import { randomUUID } from 'node:crypto';
import type { ServerState } from './operations/server-state.ts';
import { fieldsOf, type Fields, type KubeObject, timeText } from './wire/object.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

const CLASSES = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

/** The objects that are in every cluster from its first moment. */
export function seedObjects(server: ServerState): void {
  for (const name of NAMESPACES) seed(server, 'v1', 'Namespace', { metadata: { name } });
  for (const { name, value, description } of CLASSES) {
    seed(server, 'scheduling.k8s.io/v1', 'PriorityClass', { metadata: { name }, value, description });
  }
}

function seed(server: ServerState, apiVersion: string, kind: string, fields: Fields): void {
  const type = server.catalog.findKind(apiVersion, kind);
  if (type === undefined) return;
  const object = { kind, apiVersion, ...fields } as unknown as KubeObject;
  Object.assign(fieldsOf(object.metadata), {
    uid: randomUUID(),
    ...(type.behaviour.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: timeText(server.clock.now()),
  });
  type.behaviour.setDefaults(object);
  type.behaviour.prepareCreate(object);
  server.store.put(type.storage, object);
}
