import type { OwnerReference } from '#sandbox/api-server/wire/object.ts';
import type { KubeObject, ObjectMeta } from '#shared/kube/kube-object.ts';

/** The parts of workloads on the wire that the controllers read. The API server has validated and defaulted them. */
export interface OwnedMeta extends ObjectMeta {
  readonly ownerReferences?: readonly Readonly<OwnerReference>[];
  readonly finalizers?: readonly string[];
}

export interface OwnedObject extends KubeObject {
  readonly metadata: OwnedMeta;
}

export interface WireSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly unknown[];
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface ReplicaSet extends OwnedObject {
  readonly spec: { readonly replicas?: number; readonly selector: WireSelector; readonly template: PodTemplate };
  readonly status?: {
    readonly [field: string]: unknown;
    readonly availableReplicas?: number;
    readonly replicas?: number;
  };
}

export interface Deployment extends OwnedObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: WireSelector;
    readonly template: PodTemplate;
    readonly revisionHistoryLimit?: number;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: number | string; readonly maxUnavailable?: number | string };
    };
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface Job extends OwnedObject {
  readonly spec: {
    readonly completions?: number;
    readonly parallelism?: number;
    readonly backoffLimit?: number;
    readonly suspend?: boolean;
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly [field: string]: unknown;
    readonly startTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface Budget extends OwnedObject {
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: WireSelector;
  };
  readonly status?: {
    readonly [field: string]: unknown;
    readonly disruptedPods?: Readonly<Record<string, string>>;
  };
}

export interface RunningPod extends OwnedObject {
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** Everything that the controllers read. */
export interface World {
  readonly pods: readonly RunningPod[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly deployments: readonly Deployment[];
  readonly jobs: readonly Job[];
  readonly budgets: readonly Budget[];
  readonly quotas: readonly KubeObject[];
}

/** Whether the pod counts for its owner: it has not ended and is not terminating. */
export function isActive({ metadata, status }: RunningPod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

export function isReady({ status }: RunningPod): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

/** The controller's reference among an object's owners. */
export function controllerOf({ metadata }: OwnedObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Those that this object controls, by its UID. */
export function ownedBy<T extends OwnedObject>(owner: OwnedObject, objects: readonly T[]): readonly T[] {
  return objects.filter((each) => controllerOf(each)?.uid === owner.metadata.uid);
}
