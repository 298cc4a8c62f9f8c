import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { helm, whyNoHelm } from '#test/cluster/installed/support/helm.ts';
import { remainsOf } from '#test/cluster/installed/support/remains.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { WORKLOAD_IMAGE } from '#test/cluster/node/image/workload-image.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import { NODE_NAME } from '#test/cluster/node/node-place.ts';
import { refusalsOf } from './answers-of-accounts.ts';
import { whyNoNode } from '#test/cluster/node/start/node-programs.ts';
import { type NodeOfOurs, startNodeOf } from '#test/cluster/node/start/start-node-of.ts';

const CHART = `${writtenManifests()}chart/`;
const RELEASE = ['plimsoll', '--namespace', 'plimsoll-system'];
/** All but the second scheduler, for which there is no image of kube-scheduler here. */
const PARTS = [
  'nodeController',
  'dashboard',
  'disruptions',
  'queues',
  'rescheduling',
  'controlPlaneExtender',
  'flowSchema',
  'networkPolicies',
];
const TENANTS = new URL('./tenants.yaml', import.meta.url);
const OURS = '/apis/plimsoll.dev/v1alpha1';
const READY_MS = 180_000;
const PROMISED_MS = 60_000;

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
      const kubectl = (...args: readonly string[]): Promise<string> => runKubectl(node.kubeconfig, args);
      const get = (path: string): Promise<unknown> => call(client, { path });

      beforeAll(async () => {
        node = await startNodeOf('native');
        client = await testClient(node.kubeconfig);
        await kubectl('label', 'node', NODE_NAME, 'node-role.kubernetes.io/control-plane=');
        await runHelm('install', CHART, '--create-namespace', ...values());
      }, 300_000);
      afterAll(async () => {
        client.close();
        await node.close();
      }, 120_000);

      function values(): readonly string[] {
        const flags = `agent.extraArgs={${node.agentFlags.join(',')}}`;
        return [...PARTS.map((part) => `${part}.enabled=true`), flags].flatMap((value) => ['--set', value]);
      }

      async function runHelm(verb: string, ...flags: readonly string[]): Promise<void> {
        expect(await helm([verb, ...RELEASE, ...flags, '--kubeconfig', node.kubeconfig])).toMatchObject({ status: 0 });
      }

      /** Our pods: name, whether it is ready, and how often it was restarted. */
      async function ownPods(): Promise<readonly (readonly [name: string, isReady: unknown, restarts: unknown])[]> {
        const items = await Promise.all(
          ['plimsoll-system', 'plimsoll-node'].map(
            async (namespace) => at(await get(`/api/v1/namespaces/${namespace}/pods`), 'items') as readonly object[],
          ),
        );
        return items
          .flat()
          .filter((pod) => at(pod, 'metadata.deletionTimestamp') === undefined)
          .map((pod) => {
            const container = at(pod, 'status.containerStatuses.0');
            return [textAt(pod, 'metadata.name'), at(container, 'ready'), at(container, 'restartCount')];
          });
      }

      async function expectAllReady(): Promise<void> {
        await eventually(async () => {
          const pods = await ownPods();
          expect(pods.length).toBeGreaterThanOrEqual(13);
          expect(pods.filter(([, isReady]) => isReady !== true)).toEqual([]);
        }, READY_MS);
      }

      /** `REASON REPORTER OBJECT` of each Event in our name. */
      async function ownEvents(): Promise<readonly string[]> {
        const items = at(await get('/api/v1/events'), 'items') as readonly object[];
        const told = items.filter((each) => String(at(each, 'reportingComponent')).startsWith('plimsoll.dev/'));
        return told.map(
          (each) =>
            `${textAt(each, 'reason')} ${textAt(each, 'reportingComponent')} ${textAt(each, 'involvedObject.kind')}`,
        );
      }

      /** Lines of our processes that warn, each message once. */
      async function warnings(): Promise<readonly string[]> {
        const pods = await ownPods();
        const logs = await Promise.all(
          pods.map(([name]) => {
            const isOfNode = /^plimsoll-(?:agent|control-plane-extender)-/.test(name);
            return kubectl('logs', '-n', isOfNode ? 'plimsoll-node' : 'plimsoll-system', name);
          }),
        );
        const lines = logs.flatMap((log, index) =>
          log
            .split('\n')
            .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
            .map((line) => `${pods[index]?.[0].replace(/-[a-z0-9]+(?:-[a-z0-9]+)?$/, '') ?? ''}: ${line}`),
        );
        return [...new Set(lines)];
      }

      test('every process becomes ready, and none is started twice', async () => {
        await expectAllReady();
        expect((await ownPods()).filter(([, , restarts]) => restarts !== 0)).toEqual([]);
      });

      test('what the guides promise tenants is there: conditions, Events and answers', async () => {
        const documents = parseAllDocuments(readFileSync(TENANTS, 'utf8').replaceAll('WORKLOAD', WORKLOAD_IMAGE));
        await runKubectl(
          node.kubeconfig,
          ['apply', '-f', '-'],
          documents.map((each) => stringify(each.toJS())).join('---\n'),
        );
        await eventually(async () => {
          const phases = at(await get('/api/v1/namespaces/research/pods'), 'items') as readonly object[];
          expect(phases.map((pod) => at(pod, 'status.phase')).sort()).toEqual([
            'Pending',
            'Pending',
            'Running',
            'Running',
          ]);
          expect(await ownEvents()).toContain('WaitsInQueue plimsoll.dev/scheduler Pod');
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

      test(
        `after ${minutes} minutes no process has warned, and nothing was refused to our accounts`,
        { timeout: workMs + 120_000 },
        async () => {
          await letTimePass(workMs, 'watched');
          expect(await warnings()).toEqual([]);
          expect(refusalsOf(node.auditLog)).toEqual([]);
          expect((await ownPods()).filter(([, isReady]) => isReady !== true)).toEqual([]);
        },
      );

      test('every process stays within the memory that it requests', async () => {
        const summary = at(await get(`/api/v1/nodes/${NODE_NAME}/proxy/stats/summary`), 'pods') as readonly object[];
        const ours = summary.filter((pod) => textAt(pod, 'podRef.namespace').startsWith('plimsoll-'));
        expect(ours.length).toBeGreaterThanOrEqual(13);
        for (const pod of ours) {
          const { namespace, name } = at(pod, 'podRef') as { readonly namespace: string; readonly name: string };
          const found = await client.request({ path: `/api/v1/namespaces/${namespace}/pods/${name}` });
          if (found.kind !== 'ok') continue;
          const requested = parseQuantity(textAt(found.object, 'spec.containers.0.resources.requests.memory'));
          const used = Number(at(pod, 'containers.0.memory.workingSetBytes'));
          expect([name, used <= (requested.ok ? quantityNumber(requested.quantity) : 0)]).toEqual([name, true]);
        }
      });

      test('upgraded and rolled back, every process is ready again', async () => {
        await runHelm('upgrade', CHART, ...values(), '--set', 'agent.mode=Enforce');
        await kubectl('-n', 'plimsoll-node', 'rollout', 'status', 'daemonset/plimsoll-agent', '--timeout=120s');
        await runHelm('rollback', '1');
        await kubectl('-n', 'plimsoll-node', 'rollout', 'status', 'daemonset/plimsoll-agent', '--timeout=120s');
        await expectAllReady();
        expect(refusalsOf(node.auditLog)).toEqual([]);
      });

      test('uninstalled and cleaned up, nothing is left but definitions and what tenants wrote', async () => {
        // The taint and the conditions of the node controller, as if the node had been short of memory.
        const taint = 'plimsoll.dev/memory-pressure=:NoSchedule';
        await kubectl('taint', 'node', NODE_NAME, taint);
        await runHelm('uninstall', '--wait');
        runProgram(process.execPath, ['cli/main.ts', 'uninstall', '--clean-up', '--kubeconfig', node.kubeconfig]);
        const { others } = await remainsOf(node.kubeconfig);
        const written = /^(?:disruption|nodepressure|prioritypolic|priorityrules|queue|rescheduling)/;
        expect(others.filter((name) => !written.test(name))).toEqual(['namespace/plimsoll-system']);
        expect(at(await get(`/api/v1/nodes/${NODE_NAME}`), 'spec.taints')).toBeUndefined();
        await eventually(async () => {
          const pods = at(await get('/api/v1/namespaces/research/pods'), 'items') as readonly object[];
          expect(pods.map((pod) => at(pod, 'status.phase'))).toEqual(['Running', 'Running', 'Running', 'Running']);
        }, PROMISED_MS);
      });
    },
  );
}
