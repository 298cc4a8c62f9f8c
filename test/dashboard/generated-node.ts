import type { ReadNode } from '#dashboard/what-if/read-node.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import { decodeAnnotatedClass, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';

/** What a simulation needs of a generated node: the pods that its agent reports, and one of kube-system. */
export function generatedRead(pressure: NodePressure | undefined, classes: readonly object[]): ReadNode {
  if (pressure === undefined) return { kind: 'notFound' };
  const { name, status } = pressure;
  const reported = (status?.next ?? []).map(({ pod, uid, priority }) => {
    const [namespace = '', own = ''] = pod.split('/');
    return podOf({ namespace, name: own, uid }, name, priority ?? 0);
  });
  const pods = [...reported, podOf({ namespace: 'kube-system', name: 'proxy', uid: 'uid-proxy' }, name, 2_000_001_000)];
  const namespaces = [...new Set(pods.map(({ namespace }) => namespace))];
  const memory = parseQuantity('16Gi');
  const allocatable = { cpu: '2', memory: '15Gi', pods: '110' };
  return {
    kind: 'found',
    node: {
      nodes: [decodeWith(decodeNode)({ metadata: { name }, status: { allocatable } })],
      pods,
      namespaces: namespaces.map((each) => decodeWith(decodeNamespace)({ metadata: { name: each } })),
      budgets: [],
      classes: new Map(classes.map(decodeWith(decodeAnnotatedClass)).map((each) => [each.name, each])),
      policies: [],
      pressures: [pressure],
      memory: memory.ok ? memory.quantity : undefined,
    },
  };
}

function podOf(metadata: object, nodeName: string, priority: number) {
  const requests = { cpu: '150m', memory: '212Mi' };
  const containers = [{ name: 'main', resources: { requests } }];
  return decodeWith(decodePod)({ metadata, spec: { nodeName, priority, containers }, status: { phase: 'Running' } });
}
