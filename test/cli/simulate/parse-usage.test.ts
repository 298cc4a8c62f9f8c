import { describe, expect, test } from 'vitest';
import { InputError } from '#cli/process-io.ts';
import { parseUsage } from '#cli/simulate/parse-usage.ts';

const parse = (text: string, resource: 'memory' | 'pids' = 'memory') => [
  ...parseUsage({ name: 'usage', text }, resource),
];

function podMetrics(name: string, ...containers: readonly (string | undefined)[]): object {
  const usages = containers.map((memory) => ({ usage: { cpu: '1m', ...(memory !== undefined && { memory }) } }));
  return { metadata: { namespace: 'a', name }, containers: usages };
}

function metricsList(...items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetricsList', items });
}

describe('parseUsage', () => {
  test.each([
    ['lines', 'a/x 1Ki\n\n# team b\nb/y\t2000  # guessed\n', { 'a/x': 1024, 'b/y': 2000 }],
    ['Windows line ends', 'a/x 1Ki\r\nb/y 2\r\n', { 'a/x': 1024, 'b/y': 2 }],
    ['an empty file', '\n', {}],
    [
      'the sum of containers',
      metricsList(podMetrics('x', '1Ki', '24'), podMetrics('y', '0')),
      { 'a/x': 1048, 'a/y': 0 },
    ],
    ['no figure if a container has none', metricsList(podMetrics('x', '1Ki', undefined), podMetrics('y')), {}],
    [
      'YAML',
      'kind: PodMetricsList\napiVersion: metrics.k8s.io/v1beta1\nitems:\n- metadata: {namespace: a, name: x}\n  containers: [{usage: {memory: 3Ki}}]\n',
      { 'a/x': 3072 },
    ],
  ])('%s', (_, text, expected) => {
    expect(Object.fromEntries(parse(text))).toEqual(expected);
  });

  const EXPECTED = 'usage: line 2: expected NAMESPACE/POD AMOUNT, such as team-a/web-0 200Mi, got';
  test.each([
    ['a name without a namespace', 'a/x 1\nweb 1', `${EXPECTED} "web 1"`],
    ['no amount', 'a/x 1\na/y', `${EXPECTED} "a/y"`],
    ['another column', 'a/x 1\na/y 1 2', `${EXPECTED} "a/y 1 2"`],
    ['no quantity', 'a/x 1\na/y much', `${EXPECTED} "a/y much"`],
    ['less than nothing', 'a/x 1\na/y -1', `${EXPECTED} "a/y -1"`],
    ['a pod twice', 'a/x 1\na/x 2', 'usage: line 2: pod a/x stands twice'],
    ['another kind', '{"apiVersion":"v1","kind":"Pod"}', 'usage: document 1: expected PodMetrics, got Pod'],
    [
      'metrics without a name',
      metricsList({ containers: [] }),
      'usage: document 1, item 1: PodMetrics "": metadata: expected a namespace and a name',
    ],
    [
      'metrics with a broken amount',
      metricsList(podMetrics('x', 'much')),
      'usage: document 1, item 1: PodMetrics "x": containers[0].usage.memory: expected a quantity such as 500m, 2 or 1Gi, got "much"',
    ],
    [
      'metrics below 0',
      metricsList(podMetrics('x', '-1')),
      'usage: document 1, item 1: PodMetrics "x": containers[0].usage.memory: expected at least 0',
    ],
  ])('%s is refused with its place', (_, text, message) => {
    expect(() => parse(text)).toThrow(new InputError(message));
  });

  test('metrics have no processes', () => {
    expect(parse('a/x 30', 'pids')).toEqual([['a/x', 30]]);
    const message = 'usage: PodMetrics have no pids; pass lines of NAMESPACE/POD AMOUNT';
    expect(() => parse(metricsList(), 'pids')).toThrow(new InputError(message));
  });
});
