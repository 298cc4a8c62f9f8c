import { describe, expect, test } from 'vitest';
import { controlGroupFindings, unmeasuredStalls, type KubeletAsker, readNodeKernels } from '#cli/check/node-kernels.ts';
import type { ByteStream } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

function streamOf(text: string): ByteStream {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const part of text.split(/(?<=\n)/)) yield await Promise.resolve(Buffer.from(part));
  }
  return { [Symbol.asyncIterator]: () => chunks(), close: () => undefined };
}

function ok<T>(object: T): Promise<Outcome<T>> {
  return Promise.resolve({ kind: 'ok', object, warnings: [] });
}

/** Kubelets that answer with these metrics and this summary; `asked` gets every path. */
function kubelets(metrics: string, summary: object, asked: string[] = []): KubeletAsker {
  return {
    request: ({ path }) => {
      asked.push(path);
      return ok(summary);
    },
    stream: ({ path }) => {
      asked.push(path);
      return ok(streamOf(metrics));
    },
  };
}

function nodes(...kernels: readonly string[]) {
  return manifestsOf(
    kernels.map((kernelVersion, index) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `n${index}` },
      status: { nodeInfo: { kernelVersion } },
    })),
  );
}

const V1 = '# TYPE kubelet_cgroup_version gauge\nkubelet_cgroup_version 1\nkubelet_cgroup_version_x 2\n';
const V2 = V1.replace(' 1\n', ' 2\n');
const summary = (total: number) => ({ node: { cpu: { psi: { some: { total } } } } });

describe('readNodeKernels', () => {
  test('asks one node per image', async () => {
    const asked: string[] = [];
    const found = await readNodeKernels(kubelets(V2, summary(9), asked), nodes('6.1', '6.1', '6.8'));
    expect(found).toEqual([
      { nodes: ['n0', 'n1'], cgroupVersion: 2, hasStalls: true },
      { nodes: ['n2'], cgroupVersion: 2, hasStalls: true },
    ]);
    expect(asked.toSorted()).toEqual([
      '/api/v1/nodes/n0/proxy/metrics',
      '/api/v1/nodes/n0/proxy/stats/summary',
      '/api/v1/nodes/n2/proxy/metrics',
      '/api/v1/nodes/n2/proxy/stats/summary',
    ]);
  });

  test('asks ten at most', async () => {
    const many = nodes(...Array.from({ length: 30 }, (_, index) => `6.${index}`));
    expect(await readNodeKernels(kubelets(V2, {}), many)).toHaveLength(10);
  });

  test.each([
    ['zeros, as on cgroup v1', V1, summary(0), 1, false],
    ['nothing, as old kubelets', '', {}, undefined, undefined],
  ])('a kubelet that says %s', async (_, metrics, stats, cgroupVersion, hasStalls) => {
    expect(await readNodeKernels(kubelets(metrics, stats), nodes('6.1'))).toEqual([
      { nodes: ['n0'], cgroupVersion, hasStalls },
    ]);
  });

  test('a kubelet that may not be asked', async () => {
    const stream = () => Promise.resolve({ kind: 'forbidden', message: 'no' } as const);
    expect(await readNodeKernels({ ...kubelets('', {}), stream }, nodes('6.1'))).toEqual([
      { node: 'n0', message: 'no' },
    ]);
  });
});

describe('findings about kernels', () => {
  const levels = (...answers: Parameters<typeof controlGroupFindings>[0]) =>
    controlGroupFindings(answers).map(({ level, text }) => [level, text]);

  test('cgroup v1, cgroup v2, and what is not known', () => {
    expect(
      levels(
        { nodes: ['a', 'b'], cgroupVersion: 1, hasStalls: false },
        { nodes: ['c'], cgroupVersion: 2, hasStalls: true },
        { nodes: ['d'], cgroupVersion: undefined, hasStalls: undefined },
        { node: 'e', message: 'no' },
      ),
    ).toEqual([
      ['Warning', 'cgroup v1 on a, b'],
      ['Warning', 'cannot read the cgroup version of node e from its kubelet: no'],
      ['OK', 'cgroup v2 on 1 node'],
    ]);
  });

  test('stalls are missed where only they are missing', () => {
    const found = unmeasuredStalls([
      { nodes: ['a'], cgroupVersion: 1, hasStalls: false },
      { nodes: ['b'], cgroupVersion: 2, hasStalls: false },
      { nodes: ['c'], cgroupVersion: 2, hasStalls: undefined },
    ]);
    expect(found.map(({ text }) => text)).toEqual(['no pressure stall information (PSI) from b']);
  });
});
