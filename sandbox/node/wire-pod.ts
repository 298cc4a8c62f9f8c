import type { KubeObject, ObjectMeta } from '#shared/kube/kube-object.ts';

/** The parts of a pod on the wire that a kubelet reads. The API server has validated them. */
export interface WirePod extends KubeObject {
  readonly metadata: ObjectMeta & { readonly deletionGracePeriodSeconds?: number };
  readonly spec: WirePodSpec;
  readonly status?: WirePodStatus;
}

export interface WirePodSpec {
  readonly nodeName?: string;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly WireContainer[];
  readonly initContainers?: readonly WireContainer[];
}

export interface WireContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly restartPolicy?: string;
  readonly resources?: WireResources;
}

export interface WireResources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface WirePodStatus {
  readonly phase?: string;
  readonly qosClass?: string;
  readonly conditions?: readonly WireCondition[];
}

export interface WireCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}
