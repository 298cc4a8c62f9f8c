import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { whyNoHelm } from '#test/cluster/installed/support/helm.ts';
import { remainsOf } from '#test/cluster/installed/support/remains.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { WORKLOAD_IMAGE } from '#test/cluster/node/image/workload-image.ts';
import { NODE_NAME } from '#test/cluster/node/node-place.ts';
import { refusalsOf, requestsSince } from './answers-of-accounts.ts';
import { OWN_PODS, releaseOnNode } from './release-on-node.ts';
import { applyTenants, evictionTest, type PartsScene, phasesIn, reclaimTest, restartTest } from './scenes-on-node.ts';
import { whyNoNode } from '#test/cluster/node/start/node-programs.ts';
import { type NodeOfOurs, startNodeOf } from '#test/cluster/node/start/start-node-of.ts';

const OURS = '/apis/plimsoll.dev/v1alpha1';
const MINUTE_MS = 60_000;
const PROMISED_MS = 60_000;
/** Of a full install. */
const IDLE_REQUESTS_PER_SECOND = 3;
const DAEMON_SET = ['-n', 'plimsoll-node', 'rollout', 'status', 'daemonset/plimsoll-agent', '--timeout=120s'];
/** A machine that runs tests has less processor time than its programs want. */
const OF_THE_MACHINE = /"signal":"(?:cpu|io)\.pressure".*"msg":"Node under pressure"/;

const why = whyNoNode(process.env) ?? whyNoHelm(process.env);

/** The chart as a user installs it, with every part on; tenants are at work for so many minutes before logs are read. */
export function everyPartSuite(minutes: number): void {
  describe.skipIf(why !== undefined)(
    `the chart with every part on a real node${why ?? ''}`,
    { timeout: 300_000 },
    () => {
      const workMs = minutes * MINUTE_MS;
      let node: NodeOfOurs;
      let client: KubeClient;
      const release = releaseOnNode(
        () => node,
        () => client,
      );
      const { get, kubectl, ownPods, expectAllReady } = release;
      const scene: PartsScene = { ...release, node: () => node, client: () => client };

      beforeAll(async () => {
        node = await startNodeOf('native');
        client = await testClient(node.kubeconfig);
        await kubectl('label', 'node', NODE_NAME, 'node-role.kubernetes.io/control-plane=');
        await release.install();
      }, 300_000);
      afterAll(async () => {
        client.close();
        await node.close();
      }, 120_000);

      test('every process becomes ready, and none is started twice', async () => {
        await expectAllReady();
        expect((await ownPods()).filter(([, , restarts]) => restarts !== 0)).toEqual([]);
      });

      test('what the guides promise tenants is there: conditions, Events and answers', async () => {
        await applyTenants(scene, 'tenants.yaml');
        await eventually(async () => {
          expect(await phasesIn(scene, 'research')).toEqual(['Pending', 'Pending', 'Running', 'Running']);
          expect(await release.ownEvents()).toContain('WaitsInQueue plimsoll.dev/scheduler Pod');
          expect(await get(`${OURS}/disruptionpolicies/plimsoll`)).toMatchObject({ status: { forbiddingBudgets: 1 } });
          const limit = await get(`${OURS}/namespaces/shop/disruptionlimits/web`);
          expect(at(limit, 'status.windows.0')).toMatchObject({ left: 1 });
          for (const path of ['queues/research', 'prioritypolicies/tenants'])
            expect(at(await get(`${OURS}/${path}`), 'status.conditions')).toContainEqual(
              expect.objectContaining({ type: 'Ready', status: 'True' }),
            );
          expect(at(await get(`${OURS}/reschedulingpolicies/all`), 'status')).toBeDefined();
          expect(at(await get(`${OURS}/nodepressures/${NODE_NAME}`), 'status.mode')).toBe('DryRun');
        }, PROMISED_MS);
      });

      test('a tenant is refused a class above its ceiling', async () => {
        const containers = [{ name: 'main', image: WORKLOAD_IMAGE }];
        const body = { metadata: { name: 'high' }, spec: { priorityClassName: 'high', containers } };
        const path = '/api/v1/namespaces/shop/pods';
        expect(await client.request({ method: 'POST', path, body })).toMatchObject({
          kind: 'forbidden',
          message: expect.stringContaining('allows a priority of at most 1000') as string,
        });
      });

      test('an eviction is recorded, and one beyond the limit is refused', async () => {
        const pods = at(await get('/api/v1/namespaces/shop/pods'), 'items') as readonly object[];
        const evict = (name: string) =>
          client.request({
            method: 'POST',
            path: `/api/v1/namespaces/shop/pods/${name}/eviction`,
            body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'shop' } },
          });
        const [first = '', second = ''] = pods.map((pod) => textAt(pod, 'metadata.name'));
        expect(await evict(first)).toMatchObject({ kind: 'ok' });
        expect(await evict(second)).toMatchObject({ kind: 'tooManyRequests' });
        await eventually(async () => {
          const records = at(await get(`${OURS}/namespaces/shop/disruptions`), 'items') as readonly object[];
          expect(records.map((record) => at(record, 'spec.pod'))).toContain(first);
        }, PROMISED_MS);
      });

      reclaimTest(scene);

      test(
        `after ${minutes} minutes no process has warned, nothing was refused to our accounts, and they asked for little`,
        { timeout: workMs + 120_000 },
        async () => {
          const from = systemClock.now();
          await letTimePass(workMs, 'watched');
          const { total, rows } = requestsSince(node.auditLog, from);
          console.log(`${total} requests of ours in ${workMs / 1_000} s:\n${rows.join('\n')}`);
          expect(total).toBeLessThanOrEqual((IDLE_REQUESTS_PER_SECOND * workMs) / 1_000);
          expect((await release.warnings()).filter((line) => !OF_THE_MACHINE.test(line))).toEqual([]);
          expect(refusalsOf(node.auditLog)).toEqual([]);
          expect((await ownPods()).filter(([, isReady]) => isReady !== true)).toEqual([]);
        },
      );

      test('every process stays within the memory that it requests', async () => {
        const summary = at(await get(`/api/v1/nodes/${NODE_NAME}/proxy/stats/summary`), 'pods') as readonly object[];
        const ours = summary.filter((pod) => textAt(pod, 'podRef.namespace').startsWith('plimsoll-'));
        expect(ours.length).toBeGreaterThanOrEqual(OWN_PODS);
        const rows: string[] = [];
        for (const pod of ours) {
          const { namespace, name } = at(pod, 'podRef') as { readonly namespace: string; readonly name: string };
          const found = await client.request({ path: `/api/v1/namespaces/${namespace}/pods/${name}` });
          if (found.kind !== 'ok') continue;
          const requests = at(found.object, 'spec.containers.0.resources.requests');
          const requested = parseQuantity(textAt(requests, 'memory'));
          const used = Number(at(pod, 'containers.0.memory.workingSetBytes'));
          const milliCores = Math.round(Number(at(pod, 'containers.0.cpu.usageNanoCores')) / 1e6);
          rows.push(
            `${name}: ${Math.round(used / 1_048_576)}Mi of ${textAt(requests, 'memory')}, ${milliCores}m of ${textAt(requests, 'cpu')}`,
          );
          expect([name, used <= (requested.ok ? quantityNumber(requested.quantity) : 0)]).toEqual([name, true]);
        }
        console.log(`use of requests:\n${rows.sort().join('\n')}`);
      });

      evictionTest(scene);
      restartTest(scene);

      test('upgraded and rolled back, every process is ready again', async () => {
        // While an API server starts, it does not know yet who may do what.
        const before = new Set(refusalsOf(node.auditLog));
        await release.upgrade(true, '--set', 'agent.mode=Enforce');
        await kubectl(...DAEMON_SET);
        await release.run('rollback', '1');
        await kubectl(...DAEMON_SET);
        await expectAllReady();
        expect(refusalsOf(node.auditLog).filter((line) => !before.has(line))).toEqual([]);
      });

      test('uninstalled and cleaned up, nothing is left but definitions and what tenants wrote', async () => {
        // The taint and the conditions of the node controller, as if the node had been short of memory.
        const taint = 'plimsoll.dev/memory-pressure=:NoSchedule';
        await kubectl('taint', 'node', NODE_NAME, taint);
        await release.run('uninstall', '--wait');
        runProgram(process.execPath, ['cli/main.ts', 'uninstall', '--clean-up', '--kubeconfig', node.kubeconfig]);
        const { others } = await remainsOf(node.kubeconfig);
        const written = /^(?:disruption|nodepressure|prioritypolic|priorityrules|queue|rescheduling)/;
        expect(others.filter((name) => !written.test(name))).toEqual(['namespace/plimsoll-system']);
        expect(at(await get(`/api/v1/nodes/${NODE_NAME}`), 'spec.taints')).toBeUndefined();
        await eventually(
          async () => expect(await phasesIn(scene, 'research')).toEqual(['Running', 'Running', 'Running', 'Running']),
          PROMISED_MS,
        );
      });
    },
  );
}
