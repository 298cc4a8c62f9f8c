import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createClient } from '#shared/kube/client/client.ts';
import type { Environment } from '#shared/kube/client/connection.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { kubectlProgram } from '#test/cluster/support/control-plane/kubectl.ts';
import { type Situation, situations, writeSituation } from './kubeconfig-arbitraries.ts';
import { type RecordedRequest, type RecordingServers, startRecordingServers } from './recording-servers.ts';

/** What the servers got, and what was said about it. */
interface Outcome {
  readonly requests: readonly RecordedRequest[];
  readonly said: string;
}

/** Paths relative to the folder become absolute: tests share their working directory. */
function inFolder(folder: string, paths: string | undefined): string | undefined {
  return paths
    ?.split(':')
    .map((each) => join(folder, each))
    .join(':');
}

function placed(folder: string, { kubeconfig, flags }: Situation): { flags: Situation['flags']; env: Environment } {
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: inFolder(folder, kubeconfig) };
  return { env, flags: { ...flags, kubeconfig: inFolder(folder, flags.kubeconfig) } };
}

async function askWithKubectl(folder: string, situation: Situation, servers: RecordingServers): Promise<Outcome> {
  const { flags, env } = placed(folder, situation);
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const child = spawn(kubectlProgram(), ['get', '--raw', '/', ...given], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, problem] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { requests: servers.take(), said: out + problem };
}

async function askOurselves(folder: string, situation: Situation, servers: RecordingServers): Promise<Outcome> {
  const { flags, env } = placed(folder, situation);
  const { kubeconfig, context, ...overrides } = flags;
  try {
    const client = createClient(await kubeconfigConnection(kubeconfig, context, overrides, env), { userAgent: 'test' });
    const outcome = await client.request({ path: '/' });
    client.close();
    return { requests: servers.take(), said: outcome.kind === 'ok' ? '' : outcome.message };
  } catch (error) {
    return { requests: servers.take(), said: errorText(error) };
  }
}

/** Registers the comparison: kubectl is the judge, by what reaches the servers. */
export function kubeconfigAgreement(count: number, seed: number): void {
  describe.runIf(hasCluster())('a kubeconfig is read as kubectl reads it', () => {
    test(
      `${count} situations (seed ${seed})`,
      async () => {
        const servers = await startRecordingServers();
        let sent = 0;
        for (const situation of fc.sample(situations(servers), { numRuns: count, seed })) {
          const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubeconfig-'));
          writeSituation(folder, situation, servers);
          const theirs = await askWithKubectl(folder, situation, servers);
          const ours = await askOurselves(folder, situation, servers);
          rmSync(folder, { recursive: true });
          sent += theirs.requests.length;
          // kubectl asks the person at the terminal for a name where there are no credentials.
          if (theirs.said.includes('Please enter Username')) continue;
          expect(ours.requests, JSON.stringify({ situation, theirs, ours })).toEqual(theirs.requests);
        }
        servers.close();
        expect(sent).toBeGreaterThan(count / 10);
      },
      count * 1_000 + 10_000,
    );
  });
}
