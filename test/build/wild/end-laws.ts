import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { WildCluster } from './wild-cluster.ts';
import { WildView } from './wild-view.ts';

const SIX_MINUTES_MS = 360_000;
const DAY_MS = 86_400_000;

/** What holds room of a queue, though nothing happens any more; the same objects a while later. */
export function endlessFaults(cluster: WildCluster): readonly string[] {
  const view = new WildView(cluster);
  let plan: QueuePlan = view.plan();
  for (let pass = 0; pass < 2; pass += 1) {
    view.now += SIX_MINUTES_MS;
    plan = view.plan();
  }
  const returned = new Set(plan.returned.map(({ pod }) => pod.uid));
  const holding = plan.unplaced.filter(({ uid }) => !returned.has(uid));
  view.now += 200 * DAY_MS;
  const later = view.plan();
  const terminating = [...view.pods.values()].filter(({ uid, isBound }) => {
    const isLeaving = view.snapshot.placedPods.get(uid)?.pod.deletion !== undefined;
    return isBound && isLeaving && later.capped.get(uid)?.size !== 0;
  });
  return [
    ...holding.map(({ uid }) => `${uid} holds its share without a node`),
    ...terminating.map(({ uid }) => `${uid} holds its share long after its end`),
  ];
}
