import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { PodView } from '#shared/domain/quota/view/pod-view.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';

export const NAMES = ['pods', 'memory'];

/** Adds the namespace `a`, and begins a watch after revision 100. */
export function begin(view: PodView): void {
  view.addNamespace({ name: 'a', labels: new Map(), revision: 5 });
  view.begin(100, NAMES);
}

/** Lists all namespaces that are unlisted, with these pods. */
export function list(view: PodView, pods: readonly SeenPod[]): void {
  const load = view.load();
  for (const each of pods) view.putListed(load, each);
  view.loaded(load);
}

const HIGH = { className: 'high', priority: 10 };

export function pod(uid: string, revision: number, more: Partial<SeenPod> = {}): SeenPod {
  const amounts = amountsOf({ pods: '1', memory: '1Gi' });
  return { uid, namespace: 'a', name: uid, revision, generation: 0, level: HIGH, amounts, ...more };
}

export function quota(more: Partial<PriorityQuota> = {}): PriorityQuota {
  return {
    name: 'q',
    namespaces: prepareSelector(selectorOf({})),
    scope: { kind: 'classes', names: new Set(['high']) },
    hard: amountsOf({ pods: '10', memory: '8Gi' }),
    ...PLAIN_QUOTA,
    ...more,
  };
}
