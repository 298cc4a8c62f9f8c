import { describe, expect, test } from 'vitest';
import { type KubeletSettings, type PassInput, type PassOutcome, KUBELET_START, kubeletPass } from './kubelet-pass.ts';
import type { NodeReadings } from '#shared/domain/pressure/signal.ts';
import { type PodUsage, usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';
import { pod, usage } from '#test/shared/domain/ranking/builders.ts';

const GI = 2 ** 30;

function readings(memoryGi: number, diskGi: number, at = 0): NodeReadings {
  const disk = { at, availableBytes: diskGi * GI, capacityBytes: 100 * GI, inodesFree: undefined, inodes: undefined };
  return {
    memory: { at, availableBytes: memoryGi * GI, workingSetBytes: (8 - memoryGi) * GI },
    allocatableMemory: undefined,
    nodeFilesystem: disk,
    imageFilesystem: undefined,
    containerFilesystem: disk,
    processes: undefined,
  };
}

const SETTINGS: KubeletSettings = {
  thresholds: [threshold('memory.available', '1Gi'), threshold('nodefs.available', '10Gi')],
  transitionPeriodMs: 30_000,
  mostGraceSeconds: 60,
  isLocalStorageLimited: true,
  layout: 'single',
};
const PODS = [pod('system', { priority: 2_000_000_000 }), pod('low', { priority: -1 }), pod('high', { priority: 1 })];
const USAGES: readonly PodUsage[] = PODS.map(({ uid }) => usage({ uid, memoryBytes: GI }));

function pass(
  change: Partial<PassInput> & { readonly node: NodeReadings; readonly usages?: readonly PodUsage[] },
  settings = SETTINGS,
): PassOutcome {
  const { node, usages = USAGES, ...rest } = change;
  const statistics = { readings: node, usage: usageByUid(usages) };
  return kubeletPass(KUBELET_START, { now: 0, pods: PODS, statistics, readingsAfterReclaim: node, ...rest }, settings)
    .outcome;
}

describe('kubeletPass', () => {
  test('is quiet where enough is left', () => {
    expect(pass({ node: readings(4, 50) })).toEqual({ kind: 'quiet' });
  });

  test('evicts the first of the ranking that is not critical, with one second of grace', () => {
    expect(pass({ node: readings(0.5, 50) })).toEqual({
      kind: 'reclaim',
      resource: 'memory',
      nodeReclaim: [],
      eviction: {
        pod: PODS[1],
        graceSeconds: 1,
        message: {
          text: 'The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. ',
          annotations: { offending_containers: '', offending_containers_usage: '', starved_resource: 'memory' },
        },
      },
    });
  });

  test('evicts no pod where all are critical, or there is none', () => {
    const outcome = { kind: 'reclaim', resource: 'memory', nodeReclaim: [], eviction: undefined };
    expect(pass({ node: readings(0.5, 50), pods: PODS.slice(0, 1) })).toEqual(outcome);
    expect(pass({ node: readings(0.5, 50), pods: [] })).toEqual(outcome);
  });

  test('a soft threshold leaves the smaller of its own and the pod’s grace', () => {
    const settings = { ...SETTINGS, thresholds: [threshold('memory.available', '1Gi', { grace: 10 })] };
    const patient = pod('patient', { spec: { terminationGracePeriodSeconds: 30 } });
    const first = {
      now: 0,
      pods: [patient],
      statistics: { readings: readings(0.5, 50), usage: new Map() },
      readingsAfterReclaim: readings(0.5, 50),
    };
    const { state, outcome } = kubeletPass(KUBELET_START, first, settings);
    const second = { ...first, now: 10_000, statistics: { ...first.statistics, readings: readings(0.5, 50, 1) } };
    const late = kubeletPass(state, second, settings).outcome;
    expect(outcome).toEqual({ kind: 'quiet' });
    expect(late).toMatchObject({ eviction: { graceSeconds: 30 } });
  });

  test('spares pods where the node’s own waste was enough', () => {
    expect(pass({ node: readings(4, 5), readingsAfterReclaim: readings(4, 50) })).toEqual({
      kind: 'reclaim',
      resource: 'ephemeral-storage',
      nodeReclaim: ['containers', 'images'],
      eviction: undefined,
    });
  });

  test('takes a pod where anything at all is still short afterwards, even if it was not before', () => {
    const outcome = pass({ node: readings(4, 5), readingsAfterReclaim: readings(0.5, 50) });
    expect(outcome).toMatchObject({
      kind: 'reclaim',
      nodeReclaim: ['containers', 'images'],
      eviction: { pod: PODS[1] },
    });
  });

  test('pods over their own disk limits go first, all at once, and end the pass', () => {
    const limited = (name: string, priority: number) =>
      pod(name, {
        spec: { priority, containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': '1Gi' } } }] },
      });
    const pods = [limited('a', 0), limited('critical', 2_000_000_000), limited('b', 0), limited('unmeasured', 0)];
    const usages = pods.slice(0, 3).map(({ uid }) => usage({ uid, ephemeralStorageBytes: 2 * GI }));
    const message = {
      text: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
      annotations: undefined,
    };
    expect(pass({ node: readings(0.5, 50), pods, usages })).toEqual({
      kind: 'localStorage',
      evictions: [pods[0], pods[2]].map((each) => ({ pod: each, graceSeconds: 1, message })),
    });
    expect(pass({ node: readings(4, 50), pods, usages }, { ...SETTINGS, isLocalStorageLimited: false })).toEqual({
      kind: 'quiet',
    });
  });

  test('the copies for the container filesystem count from the second pass on', () => {
    const node = readings(4, 5);
    const input = { now: 0, pods: [], statistics: { readings: node, usage: new Map() }, readingsAfterReclaim: node };
    const first = kubeletPass(KUBELET_START, input, SETTINGS).state;
    const second = kubeletPass(first, { ...input, now: 1 }, SETTINGS).state;
    const signals = [first, second].map(({ pressure }) => pressure.observed.map(({ signal }) => signal));
    expect(signals).toEqual([['nodefs.available'], ['nodefs.available', 'containerfs.available']]);
  });
});
