import { afterAll, describe, expect, test } from 'vitest';
import { NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import { NO_RECLAIM_RATES } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { createSummaryNode } from '#agent/observe/kubelet/summary-node.ts';
import { withOwnKernel } from '#agent/observe/node/kernel-node.ts';
import { memoryReadings } from '#test/agent/node-scene.ts';
import { temporaryTree } from '#test/agent/observe/temporary-tree.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const TOTAL_MIB = 1000;
const proc = temporaryTree({
  meminfo: `MemTotal: ${TOTAL_MIB * 1024} kB\nMemAvailable: 204800 kB\n`,
  vmstat: 'oom_kill 7\n',
  'pressure/memory': 'some avg10=0 avg60=0 avg300=0 total=0\n',
});
afterAll(() => proc.remove());

/** A kubelet whose average says that tasks stall, and that was asked long ago. */
function open(isNodesKernel: boolean, reportedMiB = TOTAL_MIB) {
  const clock = manualClock();
  const kubelet = { url: 'http://127.0.0.1:9', token: () => Promise.resolve(''), ca: undefined, skipTlsVerify: false };
  const summary = createSummaryNode({ kubelet, periodMs: 1000, isWanted: () => false, clock });
  const old = { signal: 'memory.pressure', share: 'some', windowMs: 10_000, ratio: 0.9 } as const;
  const view = {
    ...summary.readNode(0),
    readings: memoryReadings(700, reportedMiB, -9000),
    reclaimable: NO_MEMORY_READINGS,
    stalls: [old],
    reclaim: NO_RECLAIM_RATES,
  };
  const options = { proc: proc.root, isNodesKernel: () => isNodesKernel, clock };
  return withOwnKernel({ ...summary, readNode: () => view }, options);
}

describe('withOwnKernel', () => {
  test('stalls, reclaim and OOM kills are those of /proc now, not the kubelet’s average', () => {
    const [own, remote] = [open(true), open(false)];
    const views = Array.from({ length: 21 }, (_, second) => {
      proc.write('pressure/memory', `some avg10=0 avg60=0 avg300=0 total=${second * 100_000}\n`);
      return [own, remote].map((node) => node.readNode(second * 1000));
    });
    const [seen, kubelets] = views.at(-1) ?? [];
    const tenSeconds = seen?.stalls.find(({ share, windowMs }) => share === 'some' && windowMs === 10_000);
    expect(tenSeconds?.ratio).toBeCloseTo(0.1);
    expect(seen).toMatchObject({
      oomKills: 7,
      reclaimable: { memory: { at: 20_000, availableBytes: 200 * 1024 ** 2 } },
    });
    expect(kubelets).toMatchObject({ stalls: [{ ratio: 0.9 }], oomKills: undefined });
    for (const node of [own, remote]) node.close();
  });

  test('a kubelet that leaves out huge pages is of this machine, and one that leaves out more is not', () => {
    proc.write('meminfo', `MemTotal: ${TOTAL_MIB * 1024} kB\nMemAvailable: 204800 kB\nHugetlb: ${100 * 1024} kB\n`);
    const nodes = [TOTAL_MIB, TOTAL_MIB - 100, TOTAL_MIB - 150].map((reportedMiB) => open(true, reportedMiB));
    const isOwn = nodes.map((node) => node.readNode(0).oomKills === 7);
    for (const node of nodes) node.close();
    expect(isOwn).toEqual([true, true, false]);
  });
});
