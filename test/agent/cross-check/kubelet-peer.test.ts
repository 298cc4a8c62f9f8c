import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { createPodHistory } from '#agent/cross-check/own-figures.ts';
import { kubeletPeer } from '#agent/cross-check/peer.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { MIB } from '#test/agent/node-scene.ts';
import { podUsage } from './pod-figures.ts';
import { DOUBTS } from '#agent/messages.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function kubeletAnswering(summary: object): Promise<string> {
  server = createServer((_request, response) => response.end(JSON.stringify(summary)));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** One pod as the kubelet has it: its own entry, as old as it says, and its containers as they are now. */
interface SummaryPod {
  readonly name: string;
  readonly mebibytes: number;
  readonly ageMs?: number;
  readonly containersMiB?: number;
}

const NOW_MS = 60_000;
const clock = manualClock(Date.UTC(2026, 0, 1) - NOW_MS);

/** In whole seconds, as the kubelet writes them. */
function wallTime(ageMs: number): string {
  return new Date(Math.floor((clock.now() - ageMs) / 1000) * 1000).toISOString();
}

function summaryOf(availableMiB: number, pods: readonly SummaryPod[], totalMiB = 1000): object {
  const memory = {
    time: wallTime(0),
    availableBytes: availableMiB * MIB,
    workingSetBytes: (totalMiB - availableMiB) * MIB,
  };
  return {
    node: { nodeName: 'n1', memory },
    pods: pods.map(({ name, mebibytes, ageMs = 0, containersMiB = mebibytes }) => ({
      podRef: { name, namespace: 'default', uid: name },
      memory: { time: wallTime(ageMs), workingSetBytes: mebibytes * MIB },
      containers: [{ name: 'main', memory: { time: wallTime(0), workingSetBytes: containersMiB * MIB } }],
    })),
  };
}

type UsageOverTime = (atMs: number) => number;

const OWN = { totalBytes: 1000 * MIB, lowBytes: 300 * MIB, highBytes: 310 * MIB, hugePageBytes: 200 * MIB };

/** Asks a kubelet about pods whose groups used so many MiB over the last half minute, measured each second. */
async function ask(
  availableMiB: number,
  reported: readonly SummaryPod[],
  own: Readonly<Record<string, UsageOverTime>>,
  totalMiB?: number,
) {
  const url = await kubeletAnswering(summaryOf(availableMiB, reported, totalMiB));
  const usageAt = (atMs: number) =>
    usageByUid(Object.entries(own).map(([uid, series]) => podUsage(uid, series(atMs) * MIB)));
  const history = createPodHistory();
  for (let atMs = NOW_MS - 30_000; atMs < NOW_MS; atMs += 1000) history.note(usageAt(atMs), atMs);
  return kubeletPeer({
    kubelet: { url, token: undefined, ca: undefined, skipTlsVerify: false },
    figures: { memory: () => OWN, pods: history },
    pods: () => usageAt(NOW_MS),
    toleranceShare: 0.05,
    clock: { now: () => clock.now(), monotonic: () => NOW_MS },
  }).query();
}

describe('kubeletPeer', () => {
  const steady =
    (mebibytes: number): UsageOverTime =>
    () =>
      mebibytes;

  test('agrees when the node and the pods do; a pod that only one side knows is left out', async () => {
    const reported = [
      { name: 'a', mebibytes: 300 },
      { name: 'gone', mebibytes: 90 },
    ];
    expect(await ask(320, reported, { a: steady(310), fresh: steady(500) })).toEqual({
      verdict: { source: 'kubelet-summary', kind: 'agrees' },
      pods: { compared: 1, differing: new Map() },
    });
  });

  test('reports a different figure for the node', async () => {
    expect((await ask(500, [], {})).verdict).toMatchObject({
      kind: 'differs',
      because: {
        text: DOUBTS.sourcesDisagree({ source: 'kubelet-summary', theirsMiB: 500, ownLowMiB: 300, ownHighMiB: 310 })
          .text,
      },
    });
  });

  test('0 bytes of a pod are no figure, and contradict none', async () => {
    const { pods } = await ask(305, [{ name: 'vm', mebibytes: 0 }], { vm: steady(300) });
    expect(pods).toEqual({ compared: 0, differing: new Map() });
  });

  test.each<[string, availableMiB: number, totalMiB: number, kind: string]>([
    ['counts huge pages as available where the agent does not', 505, 1200, 'agrees'],
    ['leaves out huge pages where the agent counts them', 105, 800, 'agrees'],
    ['leaves them out, and has used more', 5, 800, 'differs'],
    ['leaves out more than there are', 105, 750, 'incomparable'],
  ])('a kubelet that %s', async (_, availableMiB, totalMiB, kind) => {
    expect((await ask(availableMiB, [], {}, totalMiB)).verdict.kind).toBe(kind);
  });

  test('another figure for a pod concerns that pod, not the node', async () => {
    const reported = [
      { name: 'a', mebibytes: 300 },
      { name: 'b', mebibytes: 100 },
    ];
    const { verdict, pods } = await ask(305, reported, { a: steady(120), b: steady(100) });
    expect(verdict.kind).toBe('agrees');
    expect(pods).toEqual({
      compared: 2,
      differing: new Map([
        [
          'a',
          {
            theirsBytes: 300 * MIB,
            because: {
              code: 'StatisticsDoubtful',
              text: DOUBTS.statisticsDoubtful({
                source: 'kubelet-summary',
                theirsMiB: 300,
                ownLowMiB: 120,
                ownHighMiB: 120,
              }).text,
              facts: { source: 'kubelet-summary', theirsMiB: 300, ownLowMiB: 120, ownHighMiB: 120 },
            },
          },
        ],
      ]),
    });
  });

  test.each<[sentence: string, reported: SummaryPod, own: UsageOverTime]>([
    [
      'data that an init container left in a memory emptyDir',
      { name: 'a', mebibytes: 500, containersMiB: 100 },
      steady(500),
    ],
    ['containers measured inside a virtual machine', { name: 'a', mebibytes: 600, containersMiB: 50 }, steady(600)],
    [
      'an entry 18 s old of a pod that grows by 20 MiB a second',
      { name: 'a', mebibytes: 240, ageMs: 18_000 },
      (atMs) => 600 - ((NOW_MS - atMs) / 1000) * 20,
    ],
    [
      'an entry of this second of a pod that grows by 300 MiB a second',
      { name: 'a', mebibytes: 700, ageMs: 900 },
      (atMs) => 900 - ((NOW_MS - atMs) / 1000) * 300,
    ],
  ])('no doubt comes from %s', async (_sentence, reported, own) => {
    expect((await ask(305, [reported], { a: own })).pods).toEqual({ compared: 1, differing: new Map() });
  });

  test('a kubelet of another machine says nothing of these pods', async () => {
    const url = await kubeletAnswering({ node: { memory: { availableBytes: 5, workingSetBytes: 5 } }, pods: [] });
    const { verdict, pods } = await kubeletPeer({
      kubelet: { url, token: undefined, ca: undefined, skipTlsVerify: false },
      figures: {
        memory: () => ({ totalBytes: 1000 * MIB, lowBytes: 300 * MIB, highBytes: 310 * MIB }),
        pods: createPodHistory(),
      },
      pods: () => new Map(),
      toleranceShare: 0.05,
      clock,
    }).query();
    expect([verdict.kind, pods]).toEqual(['incomparable', undefined]);
  });
});
