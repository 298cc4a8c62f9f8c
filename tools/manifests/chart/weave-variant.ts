import { isDeepStrictEqual } from 'node:util';
import type { PlainMap } from '#tools/manifests/manifest.ts';
import { type ChartTree, isMap, treeOf } from './chart-tree.ts';

/** The same object in another overlay, and the condition for it. */
export interface Variant {
  readonly when: string;
  readonly base: unknown;
  readonly other: unknown;
}

/**
 * Adds an overlay's changes to an object as conditions, as deep in the tree as possible. Two overlays that change the
 * same place cannot be combined: the first one wins.
 */
export function weaveVariant(tree: ChartTree, variant: Variant): ChartTree {
  const { when, base, other } = variant;
  if (isDeepStrictEqual(base, other)) return tree;
  if (tree.kind === 'either') {
    tree.otherwise = tree.otherwise && weaveVariant(tree.otherwise, variant);
    return tree;
  }
  if (tree.kind === 'map' && isMap(base) && isMap(other)) return weaveMap(tree, when, base, other);
  if (tree.kind === 'list' && Array.isArray(base) && Array.isArray(other)) return weaveList(tree, when, base, other);
  return { kind: 'either', when, then: treeOf(other), otherwise: tree };
}

type Branch<Kind extends ChartTree['kind']> = Extract<ChartTree, { readonly kind: Kind }>;

function weaveMap(tree: Branch<'map'>, when: string, base: PlainMap, other: PlainMap): ChartTree {
  for (const key of new Set([...Object.keys(base), ...Object.keys(other)])) {
    const present = tree.entries.get(key);
    tree.entries.set(key, weaveEntry(present, key in other, { when, base: base[key], other: other[key] }));
  }
  return tree;
}

function weaveEntry(present: ChartTree | undefined, isKept: boolean, variant: Variant): ChartTree {
  const { when, other } = variant;
  if (present === undefined) return { kind: 'either', when, then: treeOf(other), otherwise: undefined };
  return isKept ? weaveVariant(present, variant) : { kind: 'either', when, then: undefined, otherwise: present };
}

function weaveList(tree: Branch<'list'>, when: string, base: readonly unknown[], other: readonly unknown[]): ChartTree {
  if (base.length === other.length && base.every(isMap)) {
    const items = tree.items.map((item, index) => weaveVariant(item, { when, base: base[index], other: other[index] }));
    return { kind: 'list', items };
  }
  // Conditions around every item would leave null instead of an empty list.
  if (other.length === 0) return only(when, treeOf(other), tree);
  const added = other.slice(base.length);
  if (isDeepStrictEqual(base, other.slice(0, base.length))) {
    return { kind: 'list', items: [...tree.items, ...added.map((item) => only(when, treeOf(item), undefined))] };
  }
  const isLeft = (item: unknown): boolean => other.some((each) => isDeepStrictEqual(each, item));
  if (isDeepStrictEqual(base.filter(isLeft), other)) {
    const items = tree.items.map((item, index) => (isLeft(base[index]) ? item : only(when, undefined, item)));
    return { kind: 'list', items };
  }
  return only(when, treeOf(other), tree);
}

function only(when: string, then: ChartTree | undefined, otherwise: ChartTree | undefined): ChartTree {
  return { kind: 'either', when, then, otherwise };
}
