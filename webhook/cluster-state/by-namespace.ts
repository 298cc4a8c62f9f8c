import { byName } from '#shared/domain/model/compare-texts.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';

interface Namespaced {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The objects of a namespace, sorted by name and updated change by change: an object that changes with every pod, such
 * as a ResourceQuota, costs its own namespace one sort and other namespaces nothing.
 */
export function byNamespace<T extends Namespaced>(reflector: Reflector<T>): (namespace: string) => readonly T[] {
  const groups = new Map<string, Map<string, T>>();
  const sorted = new Map<string, readonly T[]>();

  reflector.onChange(({ kind, value }) => {
    const { namespace, name } = value;
    const group = groups.get(namespace) ?? new Map<string, T>();
    sorted.delete(namespace);
    if (kind === 'deleted') group.delete(name);
    else group.set(name, value);
    if (group.size === 0) groups.delete(namespace);
    else groups.set(namespace, group);
  });

  return (namespace) => {
    const group = groups.get(namespace);
    if (group === undefined) return [];
    const known = sorted.get(namespace) ?? [...group.values()].sort(byName);
    sorted.set(namespace, known);
    return known;
  };
}
