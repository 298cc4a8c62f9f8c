import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm } from '#shared/domain/pod/pod.ts';
import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import { mapOf } from '#test/build/cluster.ts';
import { refusal, refused } from './refusal-on-node.ts';

describe('NodeAffinity', () => {
  const labels = { disk: 'ssd', gen: '3' };
  const expression = (key: string, operator: string, ...values: string[]): Requirement => ({ key, operator, values });
  const term = (...matchExpressions: Requirement[]): NodeSelectorTerm => ({ matchExpressions, matchFields: [] });
  const named = (...matchFields: Requirement[]): NodeSelectorTerm => ({ matchExpressions: [], matchFields });

  test.each<[string, readonly NodeSelectorTerm[], boolean]>([
    ['one requirement', [term(expression('disk', 'In', 'ssd'))], true],
    ['all requirements of a term', [term(expression('disk', 'In', 'ssd'), expression('gen', 'Gt', '3'))], false],
    ['one of the terms', [term(expression('disk', 'In', 'hdd')), term(expression('gen', 'Lt', '4'))], true],
    ['no term matches nothing', [], false],
    ['an empty term matches nothing', [term()], false],
    ['a term that the API server would refuse matches nothing', [term(expression('disk', 'In'))], false],
    ['the name of the node', [named(expression('metadata.name', 'In', 'n0'))], true],
    ['the name of another node', [named(expression('metadata.name', 'NotIn', 'n0'))], false],
    ['two names are no valid field', [named(expression('metadata.name', 'NotIn', 'n7', 'n8'))], false],
    ['fields know In and NotIn only', [named(expression('metadata.name', 'Exists', 'n0'))], false],
    ['another field reads as empty', [named(expression('metadata.uid', 'NotIn', 'u'))], true],
  ])('%s', (_, terms, fits) => {
    const found = refusal({ scheduling: { nodeAffinity: { terms } } }, { nodes: [{ name: 'n0', labels }] });
    const expected = refused('NodeAffinity', false, "node(s) didn't match Pod's node affinity/selector");
    expect(found).toEqual(fits ? undefined : expected);
  });

  test('the node selector must match as well', () => {
    const nodes = [{ name: 'n0', labels }];
    expect(refusal({ scheduling: { nodeSelector: mapOf({ disk: 'ssd' }) } }, { nodes })).toBeUndefined();
    expect(refusal({ scheduling: { nodeSelector: mapOf({ disk: 'hdd' }) } }, { nodes })?.filter).toBe('NodeAffinity');
  });
});
