import { controllerOf, type Pod } from '#shared/domain/pod/pod.ts';

/** A workload whose priority class is far above that of other workloads in its namespace. */
interface ClassOutlier {
  /** `namespace/Kind/name`; for a pod without a controller `namespace/name`. */
  readonly workload: string;
  readonly className: string;
  /** The class that half of the other workloads of the namespace do not exceed. */
  readonly usualClassName: string;
}

/** With fewer other workloads the median means little. */
const LEAST_NEIGHBOURS = 3;
/** How many classes of the cluster the workload is above the median. */
const FAR_CLASSES = 2;
/** Classes from this value on are reserved for the system. */
const SYSTEM_PRIORITY = 2_000_000_000;

interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly priority: number;
  readonly className: string;
}

/**
 * Workloads whose class is at least two classes above the median of the other workloads in their namespace: possibly a
 * mistake. `values` are those of all classes. Mechanism S1-23.
 */
export function classOutliers(pods: readonly Pod[], values: readonly number[]): readonly ClassOutlier[] {
  const steps = [...new Set(values.filter((value) => value < SYSTEM_PRIORITY))].toSorted((a, b) => a - b);
  const namespaces = Map.groupBy(workloadsOf(pods).values(), ({ namespace }) => namespace);
  return [...namespaces.values()].flatMap((workloads) =>
    workloads.flatMap((workload) => outlier(workload, workloads, steps) ?? []),
  );
}

/** Pods of one controller are one workload; the highest of them counts. */
function workloadsOf(pods: readonly Pod[]): ReadonlyMap<string, Workload> {
  const workloads = new Map<string, Workload>();
  for (const pod of pods) {
    const { namespace, name, spec } = pod;
    const owner = controllerOf(pod);
    const workload = `${namespace}/${owner === undefined ? name : `${owner.kind}/${owner.name}`}`;
    const own = { name: workload, namespace, priority: spec.priority ?? 0, className: spec.priorityClassName ?? '' };
    if ((workloads.get(workload)?.priority ?? -Infinity) < own.priority) workloads.set(workload, own);
  }
  return workloads;
}

function outlier(workload: Workload, all: readonly Workload[], steps: readonly number[]): ClassOutlier | undefined {
  const others = all.filter((each) => each !== workload).toSorted((a, b) => a.priority - b.priority);
  const median = others[Math.floor(others.length / 2)];
  if (others.length < LEAST_NEIGHBOURS || median === undefined || workload.priority >= SYSTEM_PRIORITY)
    return undefined;
  const between = steps.filter((step) => step > median.priority && step < workload.priority).length;
  if (between < FAR_CLASSES) return undefined;
  return { workload: workload.name, className: workload.className, usualClassName: median.className || '<none>' };
}
