import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Cluster, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { ownTemporaryFolder } from '#test/cluster/support/run/own-temporary-folder.ts';
import { listRuns } from '#test/cluster/support/run/run-folder.ts';
import { markedProcesses } from '#test/cluster/support/run/run-processes.ts';
import { at } from '#test/contract/harness.ts';
import { call } from './kube-calls.ts';
import { whyNoNode } from './start/node-programs.ts';
import { cgroupRootOf } from './start/start-kubelet.ts';
import { makePod, podPath } from './make-pod.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { eventually } from '#test/build/waiting.ts';

const why = whyNoNode(process.env);
const POD = { name: 'living', mebibytes: 16 };
const TIMEOUT_MS = 180_000;

describe.skipIf(why !== undefined)(`a real node${why ?? ''}`, { timeout: TIMEOUT_MS }, () => {
  ownTemporaryFolder();

  test('leaves nothing behind when it is closed', async () => {
    const cluster = await nodeWithPod();
    expect(leftOf(cluster.folder)).toEqual({ folder: true, programs: 7, podProcesses: 2, cgroups: true });
    await cluster.close();
    expect(leftOf(cluster.folder)).toEqual(NOTHING);
  });

  test('leaves nothing behind when its keeper is killed', async () => {
    const cluster = await nodeWithPod();
    process.kill(keeperOf(cluster.folder), 'SIGKILL');
    await cluster.close();
    expect(leftOf(cluster.folder)).toEqual(NOTHING);
  });
});

const NOTHING = { folder: false, programs: 0, podProcesses: 0, cgroups: false };

/** Links, addresses and mounts are in namespaces of their own: they are gone with the processes. */
function leftOf(folder: string): typeof NOTHING {
  const groups = globSync(`/sys/fs/cgroup/{,*/}${cgroupRootOf(folder)}`);
  const lists = groups.flatMap((group) => globSync(`${group}/**/cgroup.procs`));
  const pids = lists.flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1));
  return {
    folder: existsSync(folder),
    programs: markedProcesses(folder).length,
    podProcesses: new Set(pids).size,
    cgroups: groups.length > 0,
  };
}

function keeperOf(folder: string): number {
  const run = listRuns().find((each) => each.folder === folder);
  if (run === undefined) throw new Error(`no process owns ${folder}`);
  return run.owner.pid;
}

/** Closed at the latest when the test is over. */
async function nodeWithPod(): Promise<Cluster> {
  const startup = await startCluster({ node: 'native' });
  if (startup.kind === 'missing') throw new Error(startup.because);
  const { cluster } = startup;
  // Before the temporary folder goes, whatever was found out about it.
  onTestFinished(() => cluster.close());
  const client = await testClient(cluster.kubeconfig);
  try {
    await makePod(client, POD);
    const phase = async (): Promise<unknown> => at(await call(client, { path: podPath(POD) }), 'status.phase');
    await eventually(async () => expect(await phase()).toBe('Running'), 60_000);
  } finally {
    client.close();
  }
  return cluster;
}
