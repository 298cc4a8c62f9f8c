import type { PlainMap } from '#tools/manifests/manifest.ts';

/** A manifest on its way to a Helm template: plain YAML with places that values or conditions fill. */
export type ChartTree =
  | { readonly kind: 'plain'; readonly value: unknown }
  | { readonly kind: 'map'; readonly entries: Map<string, ChartTree> }
  | { readonly kind: 'list'; readonly items: ChartTree[] }
  | Either
  /** A template action that gives a scalar. */
  | { readonly kind: 'action'; readonly text: string }
  /** A value as YAML; left out if it is empty. */
  | { readonly kind: 'values'; readonly path: string }
  /** In a list or a map: the items or entries of one in the values. */
  | { readonly kind: 'contentsOf'; readonly path: string };

/** One of two, or nothing if a side is missing. */
export interface Either {
  readonly kind: 'either';
  /** Condition of a template `if`. */
  readonly when: string;
  then: ChartTree | undefined;
  otherwise: ChartTree | undefined;
}

export function isMap(value: unknown): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Rendered if a condition on the values is true. */
export function onlyIf(when: string, then: ChartTree): Either {
  return { kind: 'either', when, then, otherwise: undefined };
}

/** The tree of plain YAML. */
export function treeOf(value: unknown): ChartTree {
  if (Array.isArray(value) && value.length > 0) return { kind: 'list', items: value.map(treeOf) };
  if (!isMap(value) || Object.keys(value).length === 0) return { kind: 'plain', value };
  return { kind: 'map', entries: new Map(Object.entries(value).map(([key, child]) => [key, treeOf(child)])) };
}
