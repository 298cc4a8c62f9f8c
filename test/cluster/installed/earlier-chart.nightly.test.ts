import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { eventually } from '#test/build/waiting.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { accountKubeconfig } from '#test/cluster/support/accounts.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startShipped } from '#test/cluster/support/shipped-set.ts';
import { at } from '#test/contract/harness.ts';
import { startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { earlierVersion, whyNoEarlierVersion } from './support/earlier-version.ts';
import { helm, whyNoHelm } from './support/helm.ts';
import { type PodCreates, startPodCreates } from './support/pod-creates.ts';
import { runKubectl } from './support/run-kubectl.ts';

const CHART = `${writtenManifests()}chart/`;
const RELEASE = ['plimsoll', '--namespace', NAMESPACE_SYSTEM];
const ON = ['nodeController', 'disruptions', 'queues', 'rescheduling', 'dashboard'].flatMap((part) => [
  '--set',
  `${part}.enabled=true`,
]);
const FORMER_NAME =
  /\/plimsoll-(?:node-controller|disruptions|queues|rescheduling|dashboard)$|^serviceaccount\/plimsoll-scheduler$/;
const NAMESPACED = 'deployment,serviceaccount,role,rolebinding,poddisruptionbudget';
const FORMER = { namespace: NAMESPACE_SYSTEM, name: 'plimsoll-queues' };
const WITHIN_MS = 300_000;
/** A Lease lasts 15 s; who stops gives it back. */
const TAKEN_OVER_WITHIN_MS = 20_000;

const why = whyNoOwnCluster(process.env) ?? whyNoHelm(process.env) ?? whyNoEarlierVersion();

describe.skipIf(why !== undefined || !servesMutatingPolicies(process.env))(`from an earlier chart${why ?? ''}`, () => {
  const own = ownCluster();
  let creates: PodCreates;
  const kubectl = (...args: readonly string[]) => runKubectl(own().cluster.kubeconfig, args);

  beforeAll(() => {
    creates = startPodCreates(own().connection);
  });
  afterAll(() => creates.stop());

  async function run(verb: 'install' | 'upgrade', ...flags: readonly string[]): Promise<void> {
    const answer = await helm([verb, ...RELEASE, ...flags, '--kubeconfig', own().cluster.kubeconfig]);
    expect(answer).toMatchObject({ status: 0 });
  }

  /** What the commands of CHANGELOG.md name, as far as it is there. */
  async function eachFormer(verb: readonly string[], ...flags: readonly string[]): Promise<void> {
    for (const [kinds, ...place] of [[NAMESPACED, '-n', NAMESPACE_SYSTEM], ['clusterrole,clusterrolebinding']]) {
      const all = (await kubectl('get', String(kinds), ...place, '-o', 'name')).split('\n');
      const former = all.filter((each) => FORMER_NAME.test(each));
      expect(former).not.toEqual([]);
      await kubectl(...verb, ...former, ...place, ...flags);
    }
    const kinds = 'role,rolebinding';
    await kubectl(...verb, kinds, 'plimsoll-queues-kube-scheduler', '-n', 'kube-system', ...flags);
  }

  async function holder(): Promise<unknown> {
    const lease = await kubectl('-n', NAMESPACE_SYSTEM, 'get', 'lease', 'plimsoll-queues', '-o', 'json');
    return at(JSON.parse(lease), 'spec.holderIdentity');
  }

  test('the former leader of the queues leads until it is deleted, and then the controller', async () => {
    const earlier = earlierVersion(own().cluster.folder);
    await run('install', join(earlier, 'dist/chart'), '--create-namespace', ...ON);
    const args = ['--extender=Off', '--nodes-avoidance=Off', '--nodes-taints=Off', '--queues-passes=On'];
    const kubeconfig = await accountKubeconfig(own(), FORMER);
    const former = await startSchedulerProcess(kubeconfig, 0, args, { main: join(earlier, 'scheduler/main.ts') });
    const led = await eventually(holder, WITHIN_MS);

    await eachFormer(['annotate'], 'helm.sh/resource-policy=keep');
    await run('upgrade', CHART, '--reset-values', ...ON);
    await creates.expectNoneRefused();
    const controller = await startShipped(own(), 'everything');
    expect(await holder()).toBe(led);

    const stoppedAt = performance.now();
    await former.stop();
    await eachFormer(['delete']);
    await eventually(async () => expect(await holder()).toBe('plimsoll-system/plimsoll-controller'), WITHIN_MS);
    expect(performance.now() - stoppedAt).toBeLessThan(TAKEN_OVER_WITHIN_MS);
    await creates.expectNoneRefused();
    await controller.stop();
    expect(refusedRequests(own().cluster.auditLog)).toEqual([]);
  }, 600_000);
});

/** What accounts of ours asked for and had no right to. */
function refusedRequests(auditLog: string): readonly string[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const entry: unknown = JSON.parse(line);
    const user = String(at(entry, 'user.username'));
    const isRefused = at(entry, 'responseStatus.code') === 403;
    const isOurs = user.startsWith(`system:serviceaccount:${NAMESPACE_SYSTEM}:`);
    return isRefused && isOurs ? [`${user}: ${String(at(entry, 'verb'))} ${String(at(entry, 'requestURI'))}`] : [];
  });
}
