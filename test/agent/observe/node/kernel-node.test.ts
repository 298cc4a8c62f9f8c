import { describe, expect, test } from 'vitest';
import { computePodsAs } from '#shared/kube/decode/pod-arithmetic.ts';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createKernelNode } from '#agent/observe/node/kernel-node.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { fixturePods, type NodeCase, nodeRoot } from '#test/agent/observe/node-fixtures.ts';
import { eventually } from '#test/build/waiting.ts';

function openNode(name: NodeCase) {
  const root = nodeRoot(name);
  const found = findCgroupLayout(`${root}/sys/fs/cgroup`);
  if (found.kind === 'unknown') throw new Error(found.because);
  const disks = { nodefs: '/', imagefs: undefined };
  return createKernelNode({ proc: `${root}/proc`, layout: found.layout, ...disks, clock: manualClock() });
}

/** What the kubelet of the same node said within two seconds of the recording of the tree. */
const KUBELET: Partial<Record<NodeCase, { readonly available: number; readonly allocatable: number }>> = {
  'v1-cgroupfs': { available: 21_151_510_528, allocatable: 25_270_644_736 },
  'v2-cgroupfs': { available: 3_675_418_624, allocatable: 3_965_104_128 },
};

describe('createKernelNode', () => {
  test.each(Object.entries(KUBELET))('the signals of %s match those of its kubelet', (name, kubelet) => {
    const source = openNode(name as NodeCase);
    const { memory, allocatableMemory } = source.readNode(0).readings;
    source.close();
    const difference = (own: number | undefined, theirs: number): number =>
      Math.abs((own ?? Number.NaN) - theirs) / theirs;
    expect(difference(memory?.availableBytes, kubelet.available)).toBeLessThan(0.001);
    expect(difference(allocatableMemory?.availableBytes, kubelet.allocatable)).toBeLessThan(0.001);
  });

  test.each<[name: NodeCase, memory: number, allocatable: number | undefined]>([
    // MemAvailable less dirty pages; the limit of all pods less what neither page cache nor slab gives back.
    ['v2-cgroupfs', (3_518_568 - 180) * 1024, 4_117_516_288 - (178_860_032 - 70_299_648 + 28_672 - 1_077_056)],
    ['v1-cgroupfs', (23_718_640 - 13_264) * 1024, 25_274_793_984 - (3_387_392 - 364_544 + 61_440)],
    ['hugepages', (2_469_992 - 180) * 1024, 4_117_516_288 - (178_860_032 - 70_299_648 + 28_672 - 1_077_056)],
  ])('what can be reclaimed on %s', (name, memory, allocatable) => {
    const source = openNode(name);
    const { reclaimable } = source.readNode(0);
    source.close();
    expect(reclaimable.memory?.availableBytes).toBe(memory);
    expect(reclaimable.allocatableMemory?.availableBytes).toBe(allocatable);
  });

  test.each<[version: string, bytes: number]>([
    ['v1.36.3', 3_675_418_624],
    ['v1.37.2', 3_675_418_624 - 1024 ** 3],
    ['v1.38.0', 3_675_418_624 - 1024 ** 3],
  ])('of huge pages a kubelet %s', (version, bytes) => {
    computePodsAs(version);
    const source = openNode('hugepages');
    const { memory } = source.readNode(0).readings;
    source.close();
    computePodsAs('');
    expect(Math.abs((memory?.availableBytes ?? Number.NaN) - bytes) / bytes).toBeLessThan(0.001);
    expect(memory?.hugePageBytes).toBe(1024 ** 3);
  });

  test('without PSI there are no ratios, and everything else is there', () => {
    const source = openNode('no-psi');
    for (let second = 0; second < 70; second += 1) source.readNode(second * 1000);
    const view = source.readNode(70_000);
    expect(view.stalls).toEqual([]);
    expect(view.readings.memory).toBeDefined();
    expect(view.cpu).toEqual({ availableCores: 2, cores: 2, idleNow: 2 });
    source.close();
  });

  test('rates of pods need two samples, memory does not', () => {
    const source = openNode('v2-cgroupfs');
    const [pod] = fixturePods('v2-cgroupfs');
    if (pod === undefined) throw new Error('no pods');
    source.follow([{ uid: pod.uid, cgroup: { uid: pod.uid, qos: pod.qos }, isRunning: true, containers: [] }]);
    expect(source.usage('all', 0).get(pod.uid)).toMatchObject({
      memory: { at: 0 },
      processCount: 2,
      cpuNanoCores: undefined,
    });
    expect(source.usage('all', 10_000).get(pod.uid)).toMatchObject({
      memory: { at: 10_000 },
      cpuNanoCores: 0,
      ioBytesPerSecond: 0,
    });
    source.close();
  });

  test('finds the containers of a pod despite the runtime’s prefixes and suffixes', () => {
    const source = openNode('container-scopes');
    const pod = fixturePods('container-scopes').find(({ name }) => name === 'be');
    if (pod === undefined) throw new Error('no such pod');
    const id = '151eaac2c15099b1f57d198c5f672daee609f56a6eeca3a966cdb93ec20bf1f3';
    source.follow([
      {
        uid: pod.uid,
        cgroup: { uid: pod.uid, qos: pod.qos },
        isRunning: true,
        containers: [
          { name: 'c', id },
          { name: 'gone', id: 'x' },
        ],
      },
    ]);
    const [known, gone] = source.containers(pod.uid);
    expect(known?.workingSetBytes).toBeGreaterThan(100e6);
    expect(gone?.workingSetBytes).toBeUndefined();
    source.close();
  });

  test('disks are polled separately and left out until they answer', async () => {
    const source = openNode('v2-cgroupfs');
    expect(source.readNode(0).readings.nodeFilesystem).toBeUndefined();
    const controller = new AbortController();
    const running = source.run(controller.signal);
    await eventually(() => expect(source.readNode(1).readings.nodeFilesystem?.capacityBytes).toBeGreaterThan(0));
    controller.abort();
    await running;
    source.close();
  });
});
