import type { Because } from '#shared/domain/base/because.ts';
import type { ContainerUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { ObservedNode, PodPressureByUid } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { GroupUsages } from '#agent/observe/cgroup/pod-rates.ts';
import type { UsageDepth } from '#shared/decide/eviction/memory-trend.ts';
import type { QosClass } from '#shared/domain/pod/pod-requests.ts';
import type { SourceHealth } from '#agent/observe/source/source.ts';

/** The parts of a pod that its statistics need. */
export interface ObservedPod {
  readonly uid: string;
  readonly cgroup: { readonly uid: string; readonly qos: QosClass };
  /** Whether its containers have started and can be measured. */
  readonly isRunning: boolean;
  readonly containers: readonly { readonly name: string; readonly id: string }[];
}

/** Where the agent reads node and pod usage: kernel files or the kubelet's summary. */
export interface NodeSource {
  readonly kind: 'kernel' | 'summary';
  /** Reads the node now; cheap enough to call every 100 ms. */
  readonly readNode: (nowMs: number) => ObservedNode;
  /** Sets the pods to measure; called whenever they change. */
  readonly follow: (pods: readonly ObservedPod[]) => void;
  /** Usage by pod; parts deeper than `depth` are as old as the call that last read them. */
  readonly usage: (depth: UsageDepth, nowMs: number) => UsageByUid;
  /** Pressure of each pod over the last slow interval; empty if the source does not report it. */
  readonly podPressures: () => PodPressureByUid;
  /** Usage of the node and of all pods over the last slow interval; empty if the source does not report it. */
  readonly groups: () => GroupUsages;
  /** Usage of one pod by container, for the message about a victim. */
  readonly containers: (uid: string) => readonly ContainerUsage[];
  /** Why the last unmeasured pod has no statistics; `undefined` if every running pod was measured. */
  readonly whyUnmeasured: () => string | undefined;
  /** Why a fallback source is in use; `undefined` while it is not. */
  readonly fallback: () => Because | undefined;
  readonly health: () => readonly SourceHealth[];
  /** Polls slow sources (disks, the kubelet) until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}
