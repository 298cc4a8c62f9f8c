import type { ChartTree, Either } from './chart-tree.ts';

type Contents = Extract<ChartTree, { readonly kind: 'contentsOf' }>;

/**
 * Puts a tree at a path of another one, on both sides of a condition. `+` is the end of a list or a map; a missing
 * list, map or key is added. Throws if the path does not fit, for example because a manifest has changed its shape.
 */
export function fillPlace(tree: ChartTree, path: readonly string[], filling: ChartTree): void {
  const [key = '', ...rest] = path;
  if (tree.kind === 'either') {
    for (const side of [tree.then, tree.otherwise]) if (side !== undefined) fillPlace(side, path, filling);
  } else if (tree.kind === 'map' && rest[0] === '+' && filling.kind === 'contentsOf') {
    tree.entries.set(key, extended(tree.entries.get(key), filling));
  } else if (rest.length > 0) {
    fillPlace(child(tree, key), rest, filling);
  } else {
    replace(tree, key, filling);
  }
}

/** A list or map with the contents of a value at its end. */
function extended(tree: ChartTree | undefined, filling: Contents): ChartTree {
  if (tree === undefined || tree.kind === 'plain') return { kind: 'values', path: filling.path };
  if (tree.kind === 'map') tree.entries.set(`+${filling.path}`, filling);
  else if (tree.kind === 'list') tree.items.push(filling);
  else if (tree.kind === 'either') extendSides(tree, filling);
  else throw new Error(`cannot add ${filling.path}: there is neither a list nor a map`);
  return tree;
}

function extendSides(tree: Either, filling: Contents): void {
  tree.then = extended(tree.then, filling);
  tree.otherwise = extended(tree.otherwise, filling);
}

function replace(tree: ChartTree, key: string, filling: ChartTree): void {
  if (tree.kind === 'map') tree.entries.set(key, filling);
  else if (tree.kind === 'list' && key === '+') tree.items.push(filling);
  else if (tree.kind === 'list' && tree.items[Number(key)] !== undefined) tree.items[Number(key)] = filling;
  else throw new Error(`cannot fill ${key}: there is no such map or item`);
}

function child(tree: ChartTree, key: string): ChartTree {
  const found =
    tree.kind === 'map' ? tree.entries.get(key) : tree.kind === 'list' ? tree.items[Number(key)] : undefined;
  if (found === undefined) throw new Error(`cannot fill ${key}: the manifest has no such field`);
  return found;
}
