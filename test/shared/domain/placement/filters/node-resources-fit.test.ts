import { describe, expect, test } from 'vitest';
import { refusal, refused } from './refusal-on-node.ts';

describe('NodeResourcesFit', () => {
  const nodes = [{ name: 'n0', allocatable: { cpu: '2', memory: '4Gi', pods: '2', 'example.com/gpu': '1' } }];
  const pods = [{ name: 'p', node: 'n0', requests: { cpu: '1500m', 'example.com/gpu': '1' } }];

  test.each<[string, Readonly<Record<string, string>>, readonly string[], boolean]>([
    ['what is left is enough', { cpu: '500m', memory: '4Gi' }, [], true],
    ['each shortage is named', { cpu: '501m', 'example.com/gpu': '1' }, ['cpu', 'example.com/gpu'], true],
    ['more than the whole node has cannot be helped', { cpu: '501m', memory: '5Gi' }, ['cpu', 'memory'], false],
    ['a resource that the node lacks cannot be helped', { 'example.com/fpga': '1' }, ['example.com/fpga'], false],
    ['0 of a lacking resource is enough', { 'example.com/fpga': '0' }, [], true],
    ['a fraction of a unit counts as a whole one', { 'example.com/gpu': '1m' }, ['example.com/gpu'], true],
    ['a name that the scheduler does not count', { plain: '5', 'requests.example.com/gpu': '5' }, [], true],
    [
      'hugepages and volumes count',
      { 'hugepages-2Mi': '1', 'attachable-volumes-x': '1' },
      ['hugepages-2Mi', 'attachable-volumes-x'],
      false,
    ],
    ['prefixed native names count', { 'node.kubernetes.io/x': '1' }, ['node.kubernetes.io/x'], false],
    ['beyond 2^53 amounts stay exact', { memory: '9007199254740993' }, ['memory'], false],
  ])('%s', (_, requests, short, isResolvable) => {
    const reasons = short.map((name) => `Insufficient ${name}`);
    const expected = short.length === 0 ? undefined : refused('NodeResourcesFit', isResolvable, ...reasons);
    expect(refusal({ requests }, { nodes, pods })).toEqual(expected);
  });

  test('amounts beyond 2^53 are compared exactly', () => {
    const huge = [{ name: 'n0', allocatable: { memory: '9007199254740994', pods: '2' } }];
    const small = [{ name: 'p', node: 'n0', requests: { memory: '1' } }];
    expect(refusal({ requests: { memory: '9007199254740993' } }, { nodes: huge, pods: small })).toBeUndefined();
    expect(refusal({ requests: { memory: '9007199254740994' } }, { nodes: huge, pods: small })?.isResolvable).toBe(
      true,
    );
  });

  test('pods without requests take slots', () => {
    const full = [{ name: 'q', node: 'n0' }, ...pods];
    expect(refusal({}, { nodes, pods: full })).toEqual(refused('NodeResourcesFit', true, 'Too many pods'));
  });

  test('nominated pods of equal or higher priority count, lower ones do not', () => {
    const waiting = { name: 'w', nominatedTo: 'n0', requests: { cpu: '500m' } };
    const situation = (priority: number) => ({ nodes, pods: [...pods, { ...waiting, priority }] });
    expect(refusal({ priority: 5, requests: { cpu: '500m' } }, situation(5))?.reasons).toContain('Insufficient cpu');
    expect(refusal({ priority: 5, requests: { cpu: '500m' } }, situation(4))).toBeUndefined();
  });
});
