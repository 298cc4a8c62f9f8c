import type { Pod } from '#shared/domain/pod/pod.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { BASIC_RESOURCES } from '#shared/domain/quantity/resource-columns.ts';

const MOST_OTHER_RESOURCES = 16;

/** A pod without labels, affinity, ports and volumes: what it takes, how important it is, and whose it is remain. */
export function barePod(pod: Pod, nothing: Pod): Pick<Pod, 'namespace' | 'owners' | 'labels' | 'spec' | 'status'> {
  const { priority, priorityClassName, preemptionPolicy, terminationGracePeriodSeconds } = pod.spec;
  const { phase, qosClass } = pod.status;
  const resources = { requests: fewAmounts(podRequests(pod, SCHEDULER_VIEW)), limits: undefined };
  const containers = [{ name: '', resources, restartPolicy: undefined, ports: [] }];
  return {
    namespace: pod.namespace,
    owners: pod.owners.filter(({ isController }) => isController),
    labels: nothing.labels,
    spec: { ...nothing.spec, priority, priorityClassName, preemptionPolicy, terminationGracePeriodSeconds, containers },
    status: { ...nothing.status, phase, qosClass },
  };
}

/** Those that every node has, and a few of the others. */
function fewAmounts(amounts: Amounts): Amounts {
  const entries = Array.from(amounts);
  const isBasic = (name: string): boolean => BASIC_RESOURCES.includes(name);
  const others = entries.filter(([name]) => !isBasic(name)).slice(0, MOST_OTHER_RESOURCES);
  return new Map([...entries.filter(([name]) => isBasic(name)), ...others]);
}
