import { afterEach, describe, expect, test } from 'vitest';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createGuardedCache } from '#agent/observe/node/kernel-memory.ts';
import { temporaryTree, type TemporaryTree } from '#test/agent/observe/temporary-tree.ts';

const trees: TemporaryTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

function group(path: string, min: string, current: number, file: number): Record<string, string> {
  return {
    [`${path}/memory.min`]: `${min}\n`,
    [`${path}/memory.current`]: `${current}\n`,
    [`${path}/memory.stat`]: `anon 1\ninactive_file ${file / 2}\nactive_file ${file / 2}\n`,
  };
}

function open(files: Record<string, string>, path = '') {
  const tree = temporaryTree({ 'cgroup.controllers': 'memory cpu\n', 'kubepods/cgroup.procs': '', ...files });
  trees.push(tree);
  const found = findCgroupLayout(tree.root);
  if (found.kind === 'unknown') throw new Error(found.because);
  return { tree, cache: createGuardedCache(found.layout, path) };
}

describe('createGuardedCache', () => {
  test('sums memory.min of the cgroups of one level, and no deeper', () => {
    const files = {
      ...group('kubepods', '600', 1000, 500),
      ...group('kubepods/burstable', '500', 500, 500),
      ...group('system.slice', 'max', 100, 60),
      ...group('user.slice', '0', 900, 800),
    };
    const { cache } = open(files);
    expect(cache.bytesAt(0)).toBe(100 + 60);
    cache.close();
    const inPods = open(files, 'kubepods').cache;
    expect(inPods.bytesAt(0)).toBe(500);
    inPods.close();
  });

  test('reads usage each time, and memory.min again after ten seconds', () => {
    const { tree: made, cache } = open(group('kubepods', '600', 1000, 500));
    expect(cache.bytesAt(0)).toBe(100);
    made.write('kubepods/memory.current', '500\n');
    expect(cache.bytesAt(100)).toBe(500);
    made.write('kubepods/memory.min', '0\n');
    expect(cache.bytesAt(9999)).toBe(500);
    expect(cache.bytesAt(10_000)).toBe(0);
    cache.close();
  });

  test('a removed cgroup protects nothing, and a missing tree has no memory.min', () => {
    const { tree: made, cache } = open(group('kubepods', '600', 1000, 500));
    expect(cache.bytesAt(0)).toBe(100);
    cache.close();
    made.remove();
    expect(cache.bytesAt(100)).toBe(0);
    expect(cache.bytesAt(20_000)).toBe(0);
  });
});
