import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector.ts';
import { NODES } from '#shared/kube/resource.ts';

/** What the agent needs of its Node object: the labels that select a policy, and the UID that owns NodePressure. */
export interface OwnNode {
  readonly uid: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
}

type Options = Omit<ReflectorOptions<OwnNode>, 'resource' | 'fieldSelector' | 'slim'>;

/** A live copy of one Node object. */
export function createOwnNode(nodeName: string, options: Options): Reflector<OwnNode> {
  return createReflector({
    ...options,
    resource: NODES,
    fieldSelector: `metadata.name=${nodeName}`,
    slim: ({ metadata }) => ({ uid: metadata.uid, labels: new Map(Object.entries(metadata.labels ?? {})) }),
  });
}
