import { decodeAvoidFor } from '#shared/api/node-pressure-policy/decode-policy.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import { quote } from '#shared/domain/model/texts.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES, type Resource } from '#shared/kube/resource.ts';
import { type KnownNode, readKnownNode } from './known-node.ts';
import { readKnownPressure } from './known-pressure.ts';

/** What the leader decides from. */
export interface NodeCaches {
  readonly nodes: Reflector<KnownNode>;
  readonly pressures: Reflector<NodePressure>;
  /** `avoidFor` of each NodePressurePolicy by its name; milliseconds. One that cannot be read is logged and counted. */
  readonly avoidFor: Reflector<number>;
}

/** Copies that fill once their reflectors run; a replica that does not lead keeps none. */
export function createNodeCaches(options: ClientContext): NodeCaches {
  const reflect = <T>(resource: Resource, slim: (raw: KubeObject) => T | undefined): Reflector<T> =>
    createReflector({ ...options, resource, slim });
  return {
    nodes: reflect(NODES, readKnownNode),
    pressures: reflect(NODE_PRESSURES, readKnownPressure),
    avoidFor: reflect(NODE_PRESSURE_POLICIES, readAvoidFor),
  };
}

/** `spec.avoidFor` in milliseconds; `undefined` where it is not set. Throws for one that is no duration, or negative. */
export function readAvoidFor(raw: KubeObject): number | undefined {
  const decoded = decodeAvoidFor(raw);
  if (decoded.ok) return decoded.value;
  const { field, message } = decoded;
  throw new Error(`cannot read ${field} of NodePressurePolicy ${quote(raw.metadata.name ?? '')}: ${message}`);
}
