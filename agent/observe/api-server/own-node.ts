import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { NODES } from '#shared/kube/resource.ts';

/**
 * What the agent needs of its Node: labels that select a policy, the UID that owns the NodePressure, its kernel, the
 * kubelet's state.
 */
export interface OwnNode {
  readonly uid: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
  /** Of the kernel that its kubelet runs on. */
  readonly bootId: string | undefined;
  /** Whether the kubelet has stopped posting node status: the condition Ready is Unknown. */
  readonly isKubeletSilent: boolean;
}

type Options = Omit<ReflectorOptions<OwnNode>, 'resource' | 'fieldSelector' | 'slim'>;

/** A watched copy of one Node object. */
export function createOwnNode(nodeName: string, options: Options): Reflector<OwnNode> {
  return createReflector({
    ...options,
    resource: NODES,
    fieldSelector: `metadata.name=${nodeName}`,
    slim: slimNode,
  });
}

/** What is kept of a Node. */
export function slimNode({ metadata, status }: KubeObject): OwnNode {
  const { conditions, nodeInfo } = isRecord(status) ? status : {};
  const bootId = isRecord(nodeInfo) ? nodeInfo['bootID'] : undefined;
  const isSilent = Array.isArray(conditions) && conditions.some((each) => isRecord(each) && isReadyUnknown(each));
  return {
    uid: metadata.uid,
    labels: new Map(Object.entries(metadata.labels ?? {})),
    bootId: typeof bootId === 'string' && bootId !== '' ? bootId : undefined,
    isKubeletSilent: isSilent,
  };
}

function isReadyUnknown({ type, status }: Readonly<Record<string, unknown>>): boolean {
  return type === 'Ready' && status === 'Unknown';
}
