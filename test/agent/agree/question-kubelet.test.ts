import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { questionKubelet } from '#agent/agree/question-kubelet.ts';
import { MIB } from '#test/agent/node-scene.ts';
import { wireSummary } from '#test/agent/wire-node.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function kubeletAnswering(summary: object): Promise<string> {
  server = createServer((_request, response) => response.end(JSON.stringify(summary)));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function usage(mebibytes: Readonly<Record<string, number>>) {
  const nothing = { processCount: undefined, cpuNanoCores: undefined, ioBytesPerSecond: undefined };
  const rest = { ...nothing, ephemeralStorageBytes: undefined, containers: [], volumes: [] };
  const pods = Object.entries(mebibytes).map(([name, used]) => ({
    ...rest,
    uid: `uid-${name}`,
    memory: { at: 0, workingSetBytes: used * MIB },
  }));
  return usageByUid(pods);
}

async function ask(summary: object, ...own: readonly Readonly<Record<string, number>>[]) {
  const url = await kubeletAnswering(summary);
  const answers = own.map(usage);
  const { question } = questionKubelet({
    kubelet: { url, token: undefined, ca: undefined, skipTlsVerify: false },
    signal: () => ({ totalBytes: 1000 * MIB, lowBytes: 300 * MIB, highBytes: 310 * MIB }),
    pods: () => answers.shift() ?? usage({}),
    toleranceShare: 0.05,
  });
  return question();
}

describe('questionKubelet', () => {
  test('agrees when the node and the pods do; a pod that only one side knows is left out', async () => {
    const summary = wireSummary(320, 1000, { a: 300, gone: 90 });
    expect(await ask(summary, { a: 300, fresh: 500 }, { a: 310, fresh: 500 })).toEqual({
      source: 'kubelet-summary',
      kind: 'agrees',
    });
  });

  test('another figure for the node is told as such', async () => {
    expect(await ask(wireSummary(500, 1000, {}), {}, {})).toMatchObject({
      kind: 'differs',
      because: { text: "kubelet-summary sees 500 MiB of memory available, the signal's source 300 to 310 MiB" },
    });
  });

  test('containers are held against the groups of their pods', async () => {
    expect(await ask(wireSummary(305, 1000, { a: 300, b: 100 }), { a: 100, b: 100 }, { a: 120, b: 100 })).toEqual({
      source: 'kubelet-summary',
      kind: 'differs',
      because: {
        code: 'SourcesDisagree',
        text: 'kubelet-summary sees 2 pods use 400 MiB, their groups 200 to 220 MiB',
        facts: { source: 'kubelet-summary', pods: 2, theirsMiB: 400, byMiB: 180 },
      },
    });
  });
});
