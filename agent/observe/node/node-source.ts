import type { Because } from '#shared/domain/model/because.ts';
import type { ContainerUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { NodeView } from '#agent/decide/snapshot/node-view.ts';
import type { GroupUsages } from '#agent/observe/cgroup/group-meter.ts';
import type { UsageDepth } from '#agent/decide/measuring-depth.ts';
import type { PodPressureByUid } from '#agent/decide/snapshot/pod-pressure.ts';
import type { QosClass } from '#agent/observe/cgroup/pod-cgroup-path.ts';
import type { SourceHealth } from '#agent/observe/source/watched-source.ts';

/** A pod as far as its statistics need it. */
export interface ObservedPod {
  readonly uid: string;
  readonly cgroup: { readonly uid: string; readonly qos: QosClass };
  /** Whether its containers have been started, so that there is something to measure. */
  readonly isRunning: boolean;
  readonly containers: readonly { readonly name: string; readonly id: string }[];
}

/** Where the agent gets its figures: the kernel's own files, or the kubelet's summary. */
export interface NodeSource {
  readonly kind: 'kernel' | 'summary';
  /** The newest figures of the node; cheap enough for every 100 ms. */
  readonly readNode: (nowMs: number) => NodeView;
  /** Tells which pods there are, whenever that changes. */
  readonly follow: (pods: readonly ObservedPod[]) => void;
  /** What lies deeper than is asked for is as old as the look that read it last. */
  readonly usage: (depth: UsageDepth, nowMs: number) => UsageByUid;
  /** What held pods up over the last slow beat; empty where nothing tells. */
  readonly podPressures: () => PodPressureByUid;
  /** What node and pods as a whole did over the last slow beat; nothing where the source does not tell. */
  readonly groups: () => GroupUsages;
  /** Of one pod, by container: for the words about a victim. */
  readonly containers: (uid: string) => readonly ContainerUsage[];
  /** Why the last pod without a figure has none; `undefined` where every running pod was measured. */
  readonly whyUnmeasured: () => string | undefined;
  /** Why the figures come from somewhere else than usual; `undefined` while they do not. */
  readonly fallback: () => Because | undefined;
  readonly health: () => readonly SourceHealth[];
  /** Asks what takes time to ask (disks, the kubelet) until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}
