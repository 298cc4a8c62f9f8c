import { renameSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createPodScanner, type PodScanner } from '#agent/observe/node/kernel-pods.ts';
import type { Reading } from '#agent/observe/source/source.ts';
import { fixturePods, type NodeCase, NODE_CASES, nodeRoot } from '#test/agent/observe/node-fixtures.ts';
import { type TemporaryTree, temporaryTree } from '#test/agent/observe/temporary-tree.ts';

let tree: TemporaryTree | undefined;
afterEach(() => tree?.remove());

function scannerOf(cgroupRoot: string): PodScanner {
  const found = findCgroupLayout(cgroupRoot);
  if (found.kind !== 'layout') throw new Error(found.because);
  return createPodScanner(found.layout);
}

/** What a reading says through `pick`, or its kind where it is none. */
function said<T>(answer: Reading<T> | undefined, pick: (value: T) => number): number | string | undefined {
  return answer?.kind === 'reading' ? pick(answer.value) : answer?.kind;
}

function summaryOf(scanner: PodScanner, uid: string) {
  const details = scanner.readDetails(uid);
  return {
    workingSet: said(scanner.readMemory(uid), (memory) => memory.workingSetBytes),
    cpu: said(details?.cpu, (cpu) => cpu.usageSeconds),
    tasks: said(details?.pids, (pids) => pids.tasks),
    limitHits: said(details?.events, (events) => events.limitHits),
    cpuWaits: said(details?.cpuStalls, (stalls) => stalls.someMicroseconds),
  };
}

function summaries(name: NodeCase) {
  const scanner = scannerOf(`${nodeRoot(name)}/sys/fs/cgroup`);
  scanner.follow(fixturePods(name));
  const seen = fixturePods(name).map((pod) => [pod.name, summaryOf(scanner, pod.uid)] as const);
  scanner.close();
  return Object.fromEntries(seen);
}

const V1 = {
  guar: { workingSet: 491520, cpu: 0.032313427, tasks: 2, limitHits: 0 },
  spin: { workingSet: 937984, cpu: 4.813939797, tasks: 6, limitHits: 0 },
};

describe('createPodScanner', () => {
  test.each(NODE_CASES)('reads every pod of %s', (name) => {
    const seen = Object.values(summaries(name));
    expect(seen.length).toBe(fixturePods(name).length);
    for (const pod of seen) {
      expect(pod).toMatchObject({
        workingSet: expect.any(Number) as number,
        cpu: expect.any(Number) as number,
        tasks: expect.any(Number) as number,
        limitHits: expect.any(Number) as number,
      });
    }
  });

  test('both drivers of v1 give the same numbers', () => {
    expect(summaries('v1-cgroupfs')).toMatchObject(V1);
    expect(summaries('v1-systemd')).toMatchObject(V1);
  });

  test('the PSI of a pod on v1 is read from the additional v2 tree, or is absent', () => {
    expect(summaries('v1-cgroupfs')).toMatchObject({ spin: { cpuWaits: 15_263_268 } });
    expect(summaries('v1-systemd')).toMatchObject({ spin: { cpuWaits: 'absent' } });
  });

  test('a pod at its limit shows in its own limit hits, not in those of its container', () => {
    expect(summaries('v2-cgroupfs')).toMatchObject({ thrash: { limitHits: 121061 } });
    expect(summaries('container-scopes')).toEqual(summaries('v2-cgroupfs'));
  });

  test('a pod that goes away becomes absent and does not harm its neighbour', () => {
    tree = temporaryTree({
      'cgroup.controllers': 'memory\n',
      'kubepods/poda/memory.current': '10\n',
      'kubepods/poda/memory.stat': 'inactive_file 1\n',
      'kubepods/podb/memory.current': '20\n',
      'kubepods/podb/memory.stat': 'inactive_file 2\n',
    });
    const scanner = scannerOf(tree.root);
    scanner.follow(['a', 'b'].map((uid) => ({ uid, qos: 'Guaranteed' })));
    rmSync(`${tree.root}/kubepods/poda`, { recursive: true });
    expect(scanner.readMemory('a')?.kind).toBe('absent');
    expect(scanner.readMemory('b')).toEqual({
      kind: 'reading',
      value: { usageBytes: 20, workingSetBytes: 18, limitBytes: Number.POSITIVE_INFINITY },
    });
    scanner.close();
  });

  test('a pod is known from follow to the follow that leaves it out', () => {
    tree = temporaryTree({ 'cgroup.controllers': 'memory\n', 'kubepods/poda/memory.stat': '' });
    const scanner = scannerOf(tree.root);
    expect(scanner.readMemory('a')).toBeUndefined();
    scanner.follow([{ uid: 'a', qos: 'Guaranteed' }]);
    expect(scanner.readMemory('a')?.kind).toBe('absent');
    scanner.follow([]);
    expect(scanner.readMemory('a')).toBeUndefined();
    expect(scanner.readDetails('a')).toBeUndefined();
  });

  test('a pod whose class of service changed is read at its new place', () => {
    tree = temporaryTree({
      'cgroup.controllers': 'memory\n',
      'kubepods/poda/memory.current': '10\n',
      'kubepods/poda/memory.stat': 'inactive_file 0\n',
    });
    const scanner = scannerOf(tree.root);
    scanner.follow([{ uid: 'a', qos: 'Guaranteed' }]);
    expect(scanner.readMemory('a')?.kind).toBe('reading');
    tree.write('kubepods/burstable/other', '');
    renameSync(`${tree.root}/kubepods/poda`, `${tree.root}/kubepods/burstable/poda`);
    scanner.follow([{ uid: 'a', qos: 'Burstable' }]);
    expect(scanner.readMemory('a')?.kind).toBe('reading');
    scanner.close();
  });
});
