import type { KubeObject } from '#shared/kube/kube-object.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { wildNodes } from './wild-nodes.ts';
import { NOW_MS, wildPods } from './wild-pods.ts';
import { wildBudgets, wildClasses, wildNamespaces, wildQueues } from './wild-settings.ts';

/** A whole cluster as the API server stores it. */
export interface WildCluster {
  readonly now: number;
  readonly namespaces: readonly KubeObject[];
  readonly classes: readonly KubeObject[];
  readonly nodes: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
  readonly budgets: readonly KubeObject[];
  readonly queues: readonly KubeObject[];
}

/** The cluster of a seed: the same each time. */
export function wildCluster(seed: number): WildCluster {
  const random = randomSource(seed);
  const wildness = random.pick([0.1, 0.3, 1]);
  const nodes = wildNodes(random, wildness);
  const names = nodes.map(({ metadata }) => metadata.name ?? '');
  return {
    now: NOW_MS,
    namespaces: wildNamespaces(),
    classes: wildClasses(),
    nodes,
    pods: wildPods(random, names, wildness),
    budgets: wildBudgets(random),
    queues: wildQueues(random, wildness),
  };
}

/** The same objects, as other lists of an API server may have them. */
export function shuffledCluster(cluster: WildCluster, seed: number): WildCluster {
  const random = randomSource(seed);
  const shuffled = <T>(items: readonly T[]): readonly T[] => random.shuffled(items);
  const { namespaces, classes, nodes, pods, budgets, queues, now } = cluster;
  return {
    now,
    namespaces: shuffled(namespaces),
    classes: shuffled(classes),
    nodes: shuffled(nodes),
    pods: shuffled(pods),
    budgets: shuffled(budgets),
    queues: shuffled(queues),
  };
}
