import { describe, expect, test } from 'vitest';
import { type ObservedShortage, evictionMessage } from '#agent/report/eviction-events.ts';
import { wholeQuantity } from '#shared/domain/pressure/signal.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';
import { pod, usage } from '#test/shared/domain/ranking/builders.ts';

const MI = 2 ** 20;
const NONE = { usedBytes: undefined, inodesUsed: undefined };
const MEMORY: ObservedShortage = {
  resource: 'memory',
  threshold: threshold('memory.available', '1.5Gi'),
  observed: { available: wholeQuantity(90 * MI, 'BinarySI'), capacity: wholeQuantity(8192 * MI, 'BinarySI'), at: 0 },
};
const OPENING = 'The node was low on resource: memory. Threshold quantity: 1536Mi, available: 90Mi. ';

function container(name: string, workingSetMi: number | undefined) {
  return {
    name,
    workingSetBytes: workingSetMi === undefined ? undefined : workingSetMi * MI,
    rootfs: NONE,
    logs: NONE,
  };
}

describe('evictionMessage', () => {
  test('without statistics it stops after the threshold and annotates nothing', () => {
    expect(evictionMessage(MEMORY, pod('p'), undefined)).toEqual({ text: OPENING, annotations: undefined });
  });

  test('without an observation it names the resource alone', () => {
    expect(evictionMessage({ ...MEMORY, observed: undefined }, pod('p'), undefined).text).toBe(
      'The node was low on resource: memory. ',
    );
  });

  test('blames containers above their requests in the order of the statistics, init containers included', () => {
    const containers = [
      { name: 'a', resources: { requests: { memory: '100Mi' } } },
      { name: 'within', resources: { requests: { memory: '1Gi' } } },
      { name: 'at', resources: { requests: { memory: '200Mi' } } },
    ];
    const of = pod('p', { spec: { containers, initContainers: [{ name: 'i', restartPolicy: 'Always' }] } });
    const measured = ['i', 'within', 'at', 'unmeasured', 'gone', 'a'].map((name) =>
      container(name, name === 'unmeasured' ? undefined : 200),
    );
    expect(evictionMessage(MEMORY, of, usage({ containers: measured }))).toEqual({
      text: `${OPENING}Container i was using 200Mi, request is 0, has larger consumption of memory. Container a was using 200Mi, request is 100Mi, has larger consumption of memory. `,
      annotations: {
        offending_containers: 'i,a',
        offending_containers_usage: '200Mi,200Mi',
        starved_resource: 'memory',
      },
    });
  });

  test('names a pod with a memory request of its own even where it stays below it', () => {
    const of = pod('p', { spec: { containers: [{ name: 'c' }], resources: { requests: { memory: '1Gi' } } } });
    const text = (measured: ReturnType<typeof usage>) => evictionMessage(MEMORY, of, measured);
    expect(text(usage({ memoryBytes: 5 * MI }))).toEqual({
      text: `${OPENING}Pod p was using 5Mi, request is 1Gi, has larger consumption of memory. `,
      annotations: {
        offending_pod: 'p',
        offending_pod_usage: '5Mi',
        offending_containers: '',
        offending_containers_usage: '',
        starved_resource: 'memory',
      },
    });
    expect(text(usage({ memory: { at: 0, workingSetBytes: undefined } })).text).toContain(
      'Pod p was using 0, request is 1Gi',
    );
    expect(text(usage()).text).toBe(OPENING);
  });

  test('of disk a container is blamed only where both layer and logs were measured', () => {
    const disk: ObservedShortage = {
      resource: 'ephemeral-storage',
      threshold: threshold('nodefs.available', '1Gi'),
      observed: undefined,
    };
    const used = { usedBytes: MI, inodesUsed: 1 };
    const containers = [
      { ...container('c', undefined), rootfs: used, logs: used },
      { ...container('layer', undefined), rootfs: used },
      { ...container('log', undefined), logs: used },
    ];
    const of = pod('p', { spec: { containers: [{ name: 'c' }, { name: 'layer' }, { name: 'log' }] } });
    expect(evictionMessage(disk, of, usage({ containers })).text).toBe(
      'The node was low on resource: ephemeral-storage. Container c was using 2Mi, request is 0, has larger consumption of ephemeral-storage. ',
    );
  });

  test('of inodes no container is blamed', () => {
    const inodes: ObservedShortage = {
      resource: 'inodes',
      threshold: threshold('nodefs.inodesFree', '10k'),
      observed: undefined,
    };
    expect(evictionMessage(inodes, pod('p'), usage({ containers: [container('c', 1)] })).text).toBe(
      'The node was low on resource: inodes. ',
    );
  });
});
