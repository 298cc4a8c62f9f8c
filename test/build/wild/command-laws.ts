import { type Pod, isBound } from '#shared/domain/pod/pod.ts';
import { preemptView } from '#shared/decide/simulation/preempt-view.ts';
import { placementOf } from '#cli/cluster/placement.ts';
import { queueScene } from '#cli/simulate/queue-scene.ts';
import { printQueues, queueView } from '#cli/simulate/queue-view.ts';
import { pendingReason } from '#cli/why-not/pending-reason.ts';
import { protectedFault } from './eviction-laws.ts';
import type { WildCluster } from './wild-cluster.ts';
import { manifestsOf, modelOf } from './wild-model.ts';

/** What `simulate queue`, `simulate preempt` and `why-not` must not print about a wild cluster. */
export function commandFaults(cluster: WildCluster): readonly string[] {
  return [...queueFaultsOf(cluster), ...podFaults(cluster)];
}

function queueFaultsOf(cluster: WildCluster): readonly string[] {
  const pods = new Map(cluster.pods.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  return (['Guarantees', 'Shares'] as const).flatMap((reclaimBy) => {
    const view = queueView(queueScene(manifestsOf(cluster), reclaimBy));
    const rows = [...view.letIn, ...view.waiting];
    const victims = rows.flatMap((row) => row.victims);
    const names = rows.map(({ pod }) => pod);
    return [
      ...unreadable(printQueues(view)),
      ...victims.flatMap((name) => (pods.has(name) ? [] : [`simulate queue evicts ${name}, which is not there`])),
      ...[...new Set(victims)].flatMap((name) => {
        const pod = pods.get(name);
        return pod === undefined ? [] : protectedFault(pod);
      }),
      ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `simulate queue has two rows of ${name}`),
    ];
  });
}

function podFaults(cluster: WildCluster): readonly string[] {
  const model = modelOf(cluster);
  const setup = { extender: true, budgets: 'BestEffort', now: cluster.now } as const;
  return model.pods.flatMap((pod: Pod) => {
    const { because, nodes, explanations } = pendingReason(model, pod, setup);
    const texts = [because, ...explanations].map(({ text }) => text);
    const reasons = [...texts, ...nodes.map((group) => JSON.stringify(group))].join('\n');
    const placed = isBound(pod) ? '' : JSON.stringify(preemptView(placementOf(model, pod, setup)));
    return [
      ...unreadable(reasons),
      ...unreadable(placed),
      ...(because.text === '' ? [`no reason for ${pod.uid}`] : []),
    ];
  });
}

/** Texts that say nothing to a person. */
function unreadable(text: string): readonly string[] {
  const found = /undefined|NaN|Infinity|\[object|-\d+(?:\.\d+)?(?:Mi|Gi|m)? (?:cpu|memory)/.exec(text);
  return found === null ? [] : [`prints "${text.slice(Math.max(0, found.index - 80), found.index + 40)}"`];
}
