import { afterEach, describe, expect, test } from 'vitest';
import { type CgroupLayout, findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createFollowingNode } from '#agent/observe/node/following-node.ts';
import { createKernelNode } from '#agent/observe/node/kernel-node.ts';
import type { ObservedPod } from '#agent/observe/node/node-source.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { nodeRoot } from '#test/agent/observe/node-fixtures.ts';
import { type TemporaryTree, temporaryTree } from '#test/agent/observe/temporary-tree.ts';

let tree: TemporaryTree | undefined;
afterEach(() => tree?.remove());

const POD: ObservedPod = {
  uid: 'a-1',
  cgroup: { uid: 'a-1', qos: 'Burstable' },
  isRunning: true,
  containers: [],
};
const OLD = 'kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_1.slice';
const NEW = 'kubepods/burstable/poda-1';

function group(path: string, bytes: number): Record<string, string> {
  return { [`${path}/memory.current`]: `${bytes}\n`, [`${path}/memory.stat`]: 'inactive_file 0\nactive_file 0\n' };
}

function open(files: Record<string, string>) {
  tree = temporaryTree({ 'cgroup.controllers': 'memory\n', ...files });
  const { root } = tree;
  const find = (pods: readonly ObservedPod[]): CgroupLayout | undefined => {
    const found = findCgroupLayout(
      root,
      undefined,
      pods.map(({ cgroup }) => cgroup),
    );
    return found.kind === 'layout' ? found.layout : undefined;
  };
  const layout = find([]);
  if (layout === undefined) throw new Error('no layout');
  const proc = `${nodeRoot('v2-cgroupfs')}/proc`;
  const source = createFollowingNode({
    layout,
    findLayout: find,
    open: (at) => createKernelNode({ proc, layout: at, nodefs: undefined, imagefs: undefined, clock: manualClock() }),
    nowMs: 0,
  });
  const bytesAt = (nowMs: number) => source.usage('all', nowMs).get(POD.uid)?.memory?.workingSetBytes;
  return { tree, source, bytesAt };
}

describe('createFollowingNode', () => {
  test('follows a kubelet with another driver to its new cgroup, even if the old one still exists', () => {
    const { tree: made, source, bytesAt } = open({ ...group(OLD, 500), ...group('kubepods.slice', 500) });
    source.follow([POD]);
    made.removePath(OLD);
    for (const [path, content] of Object.entries({ ...group(NEW, 700), ...group('kubepods', 700) }))
      made.write(path, content);
    expect([0, 10_000].map(bytesAt)).toEqual([undefined, undefined]);
    expect(bytesAt(20_000)).toBe(700);
    source.close();
  });

  test('stays if no pod is found, and reports what it could not read', () => {
    const { tree: made, source, bytesAt } = open(group('kubepods.slice', 500));
    source.follow([POD]);
    expect([0, 10_000, 20_000, 30_000].map(bytesAt)).toEqual([undefined, undefined, undefined, undefined]);
    expect(source.whyUnmeasured()).toBe(`cannot read ${made.root}/${OLD}/memory.current: ENOENT`);
    source.close();
  });

  test('chooses the cgroup with the pods among several at the start', () => {
    const { tree: made } = open({ ...group('kubepods.slice', 1), ...group('kubepods', 1), ...group(NEW, 1) });
    expect(findCgroupLayout(made.root)).toMatchObject({ layout: { kubepods: 'kubepods.slice', driver: 'systemd' } });
    expect(findCgroupLayout(made.root, undefined, [POD.cgroup])).toMatchObject({
      layout: { kubepods: 'kubepods', driver: 'cgroupfs' },
    });
  });
});
