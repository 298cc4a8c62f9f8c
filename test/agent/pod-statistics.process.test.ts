import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'vitest';
import { type AgentProcess, startAgent } from './agent-process.ts';
import { nodeRoot } from './observe/node-fixtures.ts';
import { wirePod, wireSummary } from './wire-node.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { DOUBTS } from '#agent/messages.ts';
import { ANY_NUMBER, patternOf } from '#test/build/pattern-of.ts';
import { eventually } from '#test/build/waiting.ts';

/** Half a minute is what the agent waits for. */
const WITHIN = 90_000;
const TEST = { timeout: 150_000 };
const CAPACITY_MIB = 3926;

/** The agent as a process on a recorded node whose group of all pods has none of the pods that run. */
function startOnTree(...flags: readonly string[]): Promise<AgentProcess> {
  const root = nodeRoot('v2-cgroupfs');
  const paths = [`--path-procfs=${root}/proc`, `--path-sysfs=${root}/sys`];
  const pods = [wirePod({ name: 'hog', requestMiB: 100 }), wirePod({ name: 'quiet', requestMiB: 300 })];
  return startAgent(pods, [...paths, '--warm-up-ms=0', '--period-slow-ms=1000', '--period-status-ms=1000', ...flags]);
}

function conditionOf({ api }: AgentProcess, type: string): object | undefined {
  const patch = api.writes.findLast(({ method, path }) => method === 'PATCH' && path.includes('nodepressures'));
  const { conditions = [] } = Object(patch?.body['status']) as { conditions?: readonly { readonly type: string }[] };
  return conditions.find((each) => each.type === type);
}

describe.concurrent('a node without any pod statistics', () => {
  test('reports it in a condition and is not ready', TEST, async ({ expect, onTestFinished }) => {
    const started = await startOnTree();
    onTestFinished(async () => {
      await started.stop();
    });
    const { url } = started;
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), WITHIN);
    await eventually(
      () => expect(conditionOf(started, 'PodsMeasured')).toMatchObject({ status: 'False', reason: 'NoPodStatistics' }),
      WITHIN,
    );
    const ready = await fetch(`${url}/readyz?verbose`);
    const { text } = REASONS.noPodStatistics({ pods: 2, seconds: ANY_NUMBER });
    expect([ready.status, (await ready.text()).split('\n')]).toEqual([
      503,
      expect.arrayContaining([expect.stringMatching(patternOf(() => `[-]pod-statistics failed: ${text}`))]) as string[],
    ]);
  });

  test('uses the kubelet’s statistics, reports it, and stays ready', TEST, async ({ expect, onTestFinished }) => {
    const summary = (): object => wireSummary(3600, CAPACITY_MIB, { hog: 200, quiet: 50 });
    const kubelet = createServer((_request, response) => response.end(JSON.stringify(summary())));
    await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
    const { port } = kubelet.address() as AddressInfo;
    const started = await startOnTree(`--kubelet-url=http://127.0.0.1:${port}`);
    onTestFinished(async () => {
      await started.stop();
      kubelet.closeAllConnections();
      kubelet.close();
    });
    await eventually(
      () =>
        expect(conditionOf(started, 'SourcesAgree')).toMatchObject({
          status: 'Unknown',
          reason: 'PodsUnreadable',
          message: expect.stringContaining(DOUBTS.podsUnreadable({ pods: 2, why: '' }).text) as string,
        }),
      WITHIN,
    );
    await eventually(
      () => expect(JSON.stringify(started.api.writes.at(-1)?.body)).toContain('"usage":"200Mi"'),
      WITHIN,
    );
    expect(conditionOf(started, 'PodsMeasured')).toMatchObject({ status: 'True' });
    expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
  });
});
