import { describe, expect, test } from 'vitest';
import { treeOf } from '#tools/manifests/chart/chart-tree.ts';
import { fillPlace } from '#tools/manifests/chart/fill-place.ts';
import { renderChartTree } from '#tools/manifests/chart/render-chart-tree.ts';
import { weaveVariant } from '#tools/manifests/chart/weave-variant.ts';

function woven(base: unknown, other: unknown): string {
  return renderChartTree(weaveVariant(treeOf(base), { when: '.Values.x', base, other })).join('\n');
}

describe('weaveVariant', () => {
  test.each<[string, unknown, unknown, string]>([
    ['nothing where both are the same', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, 'a:\n  - 1\n  - b: 2'],
    [
      'a field that changes',
      { a: 1, b: 2 },
      { a: 1, b: 3 },
      'a: 1\n{{- if .Values.x }}\nb: 3\n{{- else }}\nb: 2\n{{- end }}',
    ],
    ['a field that is added', { a: 1 }, { a: 1, b: 3 }, 'a: 1\n{{- if .Values.x }}\nb: 3\n{{- end }}'],
    ['a field that goes', { a: 1, b: 2 }, { a: 1 }, 'a: 1\n{{- if not (.Values.x) }}\nb: 2\n{{- end }}'],
    ['an item that is added', { a: ['p'] }, { a: ['p', 'q'] }, 'a:\n  - p\n  {{- if .Values.x }}\n  - q\n  {{- end }}'],
    [
      'an item that goes',
      { a: ['p', 'q'] },
      { a: ['q'] },
      'a:\n  {{- if not (.Values.x) }}\n  - p\n  {{- end }}\n  - q',
    ],
    [
      'one field of an item',
      [{ n: 1, v: 1 }],
      [{ n: 1, v: 2 }],
      '- "n": 1\n  {{- if .Values.x }}\n  v: 2\n  {{- else }}\n  v: 1\n  {{- end }}',
    ],
    [
      'the first field of an item',
      [{ v: 1 }],
      [{ v: 2 }],
      '-\n  {{- if .Values.x }}\n  v: 2\n  {{- else }}\n  v: 1\n  {{- end }}',
    ],
  ])('makes a condition of %s', (_, base, other, template) => {
    expect(woven(base, other)).toBe(template);
  });

  test('what looks like a template action in a manifest is text', () => {
    expect(renderChartTree(treeOf({ a: 'say {{ hello }}' }))).toEqual(['a: say {{ "{{" }} hello }}']);
  });
});

describe('fillPlace', () => {
  test('fills both sides of a condition', () => {
    const base = { args: ['--a'] };
    const tree = weaveVariant(treeOf(base), { when: '.Values.x', base, other: { args: ['--b', '--c'] } });
    fillPlace(tree, ['args', '+'], { kind: 'contentsOf', path: '.Values.extra' });
    expect(renderChartTree(tree).filter((line) => line.includes('.Values.extra'))).toHaveLength(2);
  });

  test('fails where the manifest has changed its shape', () => {
    expect(() => fillPlace(treeOf({ a: 1 }), ['b', 'c'], treeOf(1))).toThrow(
      'cannot fill b: the manifest has no such field',
    );
  });
});
