import { describe, expect, test } from 'vitest';
import { explainRanking } from '#shared/domain/ranking/explain-ranking.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { FilesystemUsage, PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { kubeletOrder } from '#shared/domain/ranking/ranking-order.ts';
import { candidate, pod, usage } from './builders.ts';

describe('explainRanking', () => {
  test('names numbers and what puts each before the next', () => {
    const order = kubeletOrder('memory');
    const ranked = rankPods(
      [
        candidate(pod('b', { requests: { memory: '1Gi' }, priority: 5 }), usage({ memoryBytes: 1024 })),
        candidate(pod('a', { requests: { memory: '1Ki' } }), usage({ memoryBytes: 3072 })),
        candidate(pod('unknown'), undefined),
      ],
      order,
    );
    expect(explainRanking(ranked, order, 10)).toEqual([
      {
        position: 1,
        candidate: ranked[0],
        because: {
          code: 'Ranked',
          text: 'has no statistics of memory, priority 0; before default/a: it has no statistics',
          facts: {
            signal: 'memory.available',
            request: '0',
            exceedsRequest: false,
            priority: 0,
            decidedBy: 'missingStatisticsFirst',
          },
        },
      },
      {
        position: 2,
        candidate: ranked[1],
        because: {
          code: 'Ranked',
          text: 'uses 3Ki memory, over its request of 1Ki, priority 0; before default/b: it uses more than it requests',
          facts: {
            signal: 'memory.available',
            usage: '3Ki',
            request: '1Ki',
            exceedsRequest: true,
            priority: 0,
            decidedBy: 'exceedsRequests',
          },
        },
      },
      {
        position: 3,
        candidate: ranked[2],
        because: {
          code: 'Ranked',
          text: 'uses 1Ki memory, within its request of 1Gi, priority 5',
          facts: { signal: 'memory.available', usage: '1Ki', request: '1Gi', exceedsRequest: false, priority: 5 },
        },
      },
    ]);
  });

  test.each([
    ['exceed their requests', [3072, 2048], 'it exceeds its request by more'],
    ['keep to their requests', [900, 800], 'it is closer to its request'],
  ])('says how pods differ that %s', (_, used, says) => {
    const order = kubeletOrder('memory');
    const of = ['a', 'b'].map((name, n) =>
      candidate(pod(name, { requests: { memory: '1Ki' } }), usage({ memoryBytes: used[n] ?? 0 })),
    );
    expect(explainRanking(rankPods(of, order), order, 1)[0]?.because.text).toContain(`before default/b: ${says}`);
  });

  test('stops after as many as are asked for, and still names the next', () => {
    const ranked = [candidate(pod('a'), undefined, 'pid.available'), candidate(pod('b'), usage(), 'pid.available')];
    const [only, ...more] = explainRanking(ranked, kubeletOrder('pids'), 1);
    expect(more).toEqual([]);
    expect(only?.because.text).toBe(
      'has no statistics of processes, priority 0; before default/b: it has no statistics',
    );
  });

  test.each([
    ['in a readable unit', 433_700_864, '91136Ki', 'uses 414Mi memory, over its request of 89Mi'],
    ['exactly where both would read alike', 41_947_136, '40Mi', 'uses 40964Ki memory, over its request of 40Mi'],
  ])('states amounts %s', (_, memoryBytes, memory, text) => {
    const order = kubeletOrder('memory');
    const ranked = [candidate(pod('a', { requests: { memory } }), usage({ memoryBytes }))];
    expect(explainRanking(ranked, order, 1)[0]?.because.text).toContain(text);
  });

  test('says nothing of a tie', () => {
    const ranked = [candidate(pod('a'), usage()), candidate(pod('b'), usage())];
    expect(explainRanking(ranked, kubeletOrder('memory'), 1)[0]?.because.text).toBe(
      'uses 0 memory, within its request of 0, priority 0',
    );
  });

  test('prints cpu in cores', () => {
    const busy = candidate(pod('a', { requests: { cpu: '250m' } }), usage({ cpuNanoCores: 1.5e9 }), 'cpu.available');
    expect(explainRanking([busy], kubeletOrder('cpu'), 1)[0]?.because.text).toBe(
      'uses 1500m cpu, over its request of 250m, priority 0',
    );
  });

  test.each<[Signal, Partial<PodUsage>, string]>([
    [
      'nodefs.available',
      { containers: [container({ usedBytes: 3072 })] },
      'uses 3Ki ephemeral-storage, over its request of 0',
    ],
    ['nodefs.inodesFree', { containers: [container({ inodesUsed: 3 })] }, 'uses 3 inodes, over its request of 0'],
    ['pid.available', { processCount: 3 }, 'uses 3 processes, over its request of 0'],
    ['io.pressure', { ioBytesPerSecond: 3072 }, 'uses 3Ki bytes per second of io, over its request of 0'],
  ])('prints the unit of %s', (signal, figures, expected) => {
    const using = candidate(pod('a'), usage(figures), signal);
    expect(explainRanking([using], kubeletOrder('memory'), 1)[0]?.because.text).toBe(`${expected}, priority 0`);
  });
});

function container(used: Partial<FilesystemUsage>): PodUsage['containers'][number] {
  const nothing = { usedBytes: 0, inodesUsed: 0 };
  return { name: 'c', workingSetBytes: 0, rootfs: { ...nothing, ...used }, logs: nothing };
}
