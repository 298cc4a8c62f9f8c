import { PLAIN_QUOTA, selectorOf } from './cluster.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter, type QuotaCount } from '#shared/domain/quota/view/quota-counter.ts';

/** A pod that exists, and what it costs. */
export interface CountedPod {
  readonly uid: string;
  /** By default its UID. */
  readonly name?: string;
  readonly namespace: string;
  readonly amounts: Amounts;
  readonly generation?: number;
}

/** A view in which these pods are all that there is, each of a revision of its own, and all of it has been reached. */
export function viewOf(names: readonly string[], pods: Iterable<CountedPod>): PodView {
  const view = new PodView();
  const all = [...pods];
  const namespaces = new Set(all.map(({ namespace }) => namespace));
  for (const name of namespaces) view.addNamespace({ name, labels: new Map(), revision: 1 });
  view.begin(all.length, names);
  view.loaded(view.load());
  for (const [index, pod] of all.entries()) {
    const level = { className: 'high', priority: 0 };
    view.put({ generation: 0, name: pod.uid, ...pod, revision: index + 1, level });
  }
  return view;
}

/** A count of these pods under these limits. */
export function countOf(hard: Amounts, pods: Iterable<CountedPod>): QuotaCount {
  const quota: PriorityQuota = {
    name: 'q',
    namespaces: prepareSelector(selectorOf({})),
    scope: { kind: 'range', min: 0, max: 0 },
    hard,
    ...PLAIN_QUOTA,
  };
  const count = new QuotaCounter(viewOf([...hard.keys()], pods)).count(quota, '', 1);
  if (count === undefined) throw new Error('the view is not whole');
  return count;
}
