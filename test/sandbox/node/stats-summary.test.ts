import { expect, test } from 'vitest';
import { decodeSummary } from '#shared/kube/decode/decode-summary.ts';
import type { ContainerUsage } from '#sandbox/node/measure-containers.ts';
import { statsSummary } from '#sandbox/node/stats-summary.ts';

const AT = Date.UTC(2026, 0, 1, 0, 1);
const MEBIBYTE = 1024 * 1024;

function usage(pod: string, container: string, usedMi: number, cpuNanoCores?: number): ContainerUsage {
  return {
    namespace: 'team-a',
    pod,
    podUid: `uid-${pod}`,
    container,
    startedAt: AT - 30_000,
    podStartedAt: AT - 31_000,
    workingSetBytes: usedMi * MEBIBYTE,
    rssBytes: usedMi * MEBIBYTE + 4096,
    cpuNanoSeconds: 5_000_000,
    cpuNanoCores,
  };
}

function summaryOf(...containers: readonly ContainerUsage[]) {
  return statsSummary({
    nodeName: 'sandbox',
    startedAt: AT - 60_000,
    memoryBytes: 1024 * MEBIBYTE,
    measurement: { at: AT, containers },
    disk: { availableBytes: 60, capacityBytes: 100, inodesFree: 7, inodes: 10 },
  });
}

test('adds containers up to pods and pods to the node', () => {
  const summary = summaryOf(
    usage('web', 'main', 100, 2_000_000),
    usage('web', 'side', 20, 1_000_000),
    usage('job', 'main', 50, 0),
  );
  expect(summary.node.memory).toMatchObject({ workingSetBytes: 170 * MEBIBYTE, availableBytes: 854 * MEBIBYTE });
  expect(
    summary.pods.map(({ podRef, memory, cpu }) => ({
      podRef,
      memory: memory.workingSetBytes,
      cpu: cpu.usageNanoCores,
    })),
  ).toEqual([
    { podRef: { name: 'web', namespace: 'team-a', uid: 'uid-web' }, memory: 120 * MEBIBYTE, cpu: 3_000_000 },
    { podRef: { name: 'job', namespace: 'team-a', uid: 'uid-job' }, memory: 50 * MEBIBYTE, cpu: 0 },
  ]);
});

test('leaves out a rate that is not known yet: no data is not zero', () => {
  const [pod] = summaryOf(usage('web', 'main', 1)).pods;
  expect(pod?.cpu).not.toHaveProperty('usageNanoCores');
});

test('never gives less than nothing as available', () => {
  expect(summaryOf(usage('hog', 'main', 1_100)).node.memory.availableBytes).toBe(0);
});

test('is read by the decoder that the agent uses', () => {
  const decoded = decodeSummary(JSON.parse(JSON.stringify(summaryOf(usage('web', 'main', 100, 1)))));
  expect(decoded.ok).toBe(true);
});
