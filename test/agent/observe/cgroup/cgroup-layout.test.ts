import { afterEach, describe, expect, test } from 'vitest';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { type NodeCase, NODE_CASES, nodeRoot } from '#test/agent/observe/node-fixtures.ts';
import { type TemporaryTree, temporaryTree } from '#test/agent/observe/temporary-tree.ts';

let tree: TemporaryTree | undefined;
afterEach(() => tree?.remove());

const expected: Record<NodeCase, readonly [version: string, driver: string, kubepods: string, hasPressure: boolean]> = {
  'v1-cgroupfs': ['v1', 'cgroupfs', 'kubepods', true],
  'v1-systemd': ['v1', 'systemd', 'kubepods.slice', false],
  'v2-cgroupfs': ['v2', 'cgroupfs', 'kubepods', true],
  'v2-systemd': ['v2', 'systemd', 'kubepods.slice', true],
  'container-scopes': ['v2', 'systemd', 'kubepods.slice', true],
  'no-psi': ['v2', 'cgroupfs', 'kubepods', true],
  'swap-on': ['v2', 'cgroupfs', 'kubepods', true],
  hugepages: ['v2', 'cgroupfs', 'kubepods', true],
};

describe('findCgroupLayout', () => {
  test.each(NODE_CASES)('recognises %s', (name) => {
    const found = findCgroupLayout(`${nodeRoot(name)}/sys/fs/cgroup`);
    if (found.kind !== 'layout') throw new Error(found.because);
    const { version, driver, kubepods, pressure } = found.layout;
    expect([version, driver, kubepods, pressure !== undefined]).toEqual(expected[name]);
  });

  test('finds joined controllers of v1', () => {
    const root = `${nodeRoot('v1-systemd')}/sys/fs/cgroup`;
    const found = findCgroupLayout(root);
    expect(found).toMatchObject({ layout: { cpu: `${root}/cpu,cpuacct`, cpuAccounting: `${root}/cpu,cpuacct` } });
  });

  test('finds the pods below a kubelet group of their own', () => {
    tree = temporaryTree({
      'cgroup.controllers': 'cpu memory\n',
      'kubelet.slice/kubelet-kubepods.slice/memory.stat': '',
    });
    expect(findCgroupLayout(tree.root)).toMatchObject({
      layout: { driver: 'systemd', kubepods: 'kubelet.slice/kubelet-kubepods.slice' },
    });
  });

  test('takes a configured group, and its driver from the name', () => {
    tree = temporaryTree({ 'cgroup.controllers': 'memory\n', 'machine/pods/memory.stat': '' });
    expect(findCgroupLayout(tree.root, 'machine/pods')).toMatchObject({
      layout: { driver: 'cgroupfs', kubepods: 'machine/pods' },
    });
  });

  test.each<[setting: string, kubepods: string, driver: string]>([
    ['kubepods.slice/', 'kubepods.slice', 'systemd'],
    ['/kubepods.slice', 'kubepods.slice', 'systemd'],
    ['//kubelet.slice//kubelet-kubepods.slice//', 'kubelet.slice/kubelet-kubepods.slice', 'systemd'],
    ['./machine/pods/', 'machine/pods', 'cgroupfs'],
    ['machine.slice/pods/', 'machine.slice/pods', 'cgroupfs'],
  ])('%s is %s', (setting, kubepods, driver) => {
    for (const memory of ['', 'memory/']) {
      tree?.remove();
      tree = temporaryTree({ [`${memory}${kubepods}/memory.stat`]: '' });
      if (memory === '') tree.write('cgroup.controllers', 'memory\n');
      for (const root of [tree.root, `${tree.root}/`])
        expect(findCgroupLayout(root, setting)).toMatchObject({ kind: 'layout', layout: { kubepods, driver } });
    }
  });

  test('the root of all cgroups is not the cgroup of all pods', () => {
    tree = temporaryTree({ 'cgroup.controllers': 'memory\n', 'kubepods/memory.stat': '' });
    for (const setting of ['', '/', './']) expect(findCgroupLayout(tree.root, setting).kind).toBe('unknown');
  });

  test('an unknown layout is refused with a reason', () => {
    tree = temporaryTree({ 'cgroup.controllers': 'hugetlb\n' });
    expect(findCgroupLayout(tree.root)).toEqual({
      kind: 'unknown',
      because: `no memory controller below ${tree.root}: expected cgroup.controllers or memory/`,
    });
    tree.write('cgroup.controllers', 'memory\n');
    expect(findCgroupLayout(tree.root, 'nowhere')).toEqual({
      kind: 'unknown',
      because: `no cgroup of all pods below ${tree.root}: expected nowhere`,
    });
  });
});
