import type { Instant } from '#shared/domain/pod/pod.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { depthNow } from './decide/measuring-depth.ts';
import { indexPods, type NodeSnapshot } from './decide/snapshot/node-snapshot.ts';
import type { NodePods } from './observe/api-server/node-pods.ts';
import type { NodeSource } from './observe/node/node-source.ts';

interface MeasurementPorts {
  readonly source: Pick<NodeSource, 'follow' | 'usage'>;
  readonly pods: Pick<NodePods, 'alive' | 'endedByKubelet' | 'unreadable' | 'onChange'>;
  readonly periods: Parameters<typeof depthNow>[1];
}

type Urgency = Pick<Parameters<typeof depthNow>[0], 'isNear' | 'isShort' | 'areProcessesShort'>;

/** The pods of the node and their usage, measured no more often than the pressure needs. */
export interface PodMeasurements {
  /** Takes over the pods as the API server shows them, if they have changed. */
  readonly follow: () => void;
  /** Measures what is due now; the usage of an earlier pass stays where nothing is. */
  readonly measure: (now: Instant, urgency: Urgency) => Pick<NodeSnapshot, 'pods' | 'usage'>;
}

/** Nothing is measured before the first pass. */
export function createPodMeasurements({ source, pods, periods }: MeasurementPorts): PodMeasurements {
  let current = indexPods([]);
  let haveChanged = true;
  let usage: UsageByUid = new Map();
  let measuredAt = -Infinity;
  let measuredAllAt = -Infinity;
  pods.onChange(() => void (haveChanged = true));

  function follow(): void {
    if (!haveChanged) return;
    haveChanged = false;
    const alive = pods.alive();
    const others = { endedByKubelet: pods.endedByKubelet(), unreadable: pods.unreadable() };
    current = indexPods(
      alive.map(({ facts }) => facts),
      others,
    );
    source.follow(alive.map(({ observed }) => observed));
  }

  function measure(now: Instant, urgency: Urgency): Pick<NodeSnapshot, 'pods' | 'usage'> {
    const depth = depthNow({ now, measuredAt, measuredAllAt, ...urgency }, periods);
    if (depth === undefined) return { pods: current, usage };
    usage = source.usage(depth, now);
    measuredAt = now;
    if (depth === 'all') measuredAllAt = now;
    return { pods: current, usage };
  }

  return { follow, measure };
}
