import { describe, expect, test } from 'vitest';
import { describeEviction } from '#agent/report/eviction-events.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { snapshot, MIB, policy } from '#test/agent/node-scene.ts';

const NO_DISK = { usedBytes: undefined, inodesUsed: undefined };

/** As read from kernel files: for the pod as a whole. */
function eviction(): Eviction {
  const pods = [{ name: 'hog', usageMiB: 300, requests: { memory: '10Mi' } }];
  const [first] = decide(FIRST_STATE, snapshot({ now: 0, availableMiB: 10, pods }), policy()).evictions;
  if (first === undefined) throw new Error('no pod was chosen');
  return { ...first, usage: first.usage && { ...first.usage, containers: [] } };
}

describe('describeEviction', () => {
  test('names the containers above their request once they are known', () => {
    const [container] = eviction().pod.spec.containers;
    const measured = { name: container?.name ?? '', workingSetBytes: 300 * MIB, rootfs: NO_DISK, logs: NO_DISK };
    const { text, annotations } = describeEviction(eviction(), [measured]);
    expect(text).toContain(`Container ${measured.name} was using 300Mi, request is 10Mi`);
    expect(annotations).toMatchObject({ offending_containers: measured.name, offending_containers_usage: '300Mi' });
  });

  test('describes a pod with unknown containers without them, and uses no other figure instead', () => {
    const { text, annotations } = describeEviction(eviction(), []);
    expect(text).toMatch(/^The node was low on resource: memory\. Threshold quantity: \S+, available: \S+\. $/);
    expect(annotations).toEqual({
      offending_containers: '',
      offending_containers_usage: '',
      starved_resource: 'memory',
    });
  });
});
