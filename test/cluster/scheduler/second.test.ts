import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { accountKubeconfig } from '#test/cluster/support/accounts.ts';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { builtManifests } from '#test/cluster/installed/support/built-manifests.ts';
import { rightsOf } from '#test/cluster/installed/support/rights-of.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startSecondScheduler } from '#test/cluster/support/control-plane/second-scheduler.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { LABELS, PATIENCE_MS, preemptionScenario } from './preemption-scenario.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';

const OVERLAY = 'overlays/second-scheduler';
const ACCOUNT = { namespace: 'plimsoll-system', name: 'plimsoll-kube-scheduler' };
const REMOVED = /plimsoll_extender_nodes_total\{[^}]*verdict="removed"[^}]*\} (?<nodes>\d+)/;
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`deploy/overlays/second-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  let extender: SchedulerProcess;
  let scheduler: Component;

  beforeAll(async () => {
    const { cluster } = own();
    const folder = fileURLToPath(new URL(`../../../deploy/${OVERLAY}`, import.meta.url));
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', folder]);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    const kubeconfig = await accountKubeconfig(own(), ACCOUNT);
    const [extenderPort = 0, securePort = 0] = await freePorts(2);
    extender = await startSchedulerProcess(kubeconfig, extenderPort, ['--budgets=Hard']);
    scheduler = await startKubeScheduler({ kubeconfig, extenderPort, securePort });
  }, 120_000);
  afterAll(async () => {
    await scheduler.stop('SIGKILL');
    await extender.stop();
  });

  /** The stock kube-scheduler with the ConfigMap of the component; only where it finds its API server and its extender differs. */
  async function startKubeScheduler(at: { kubeconfig: string; extenderPort: number; securePort: number }) {
    const shipped = await shippedConfiguration();
    const [extenderEntry] = shipped.extenders;
    const extenders = [{ ...extenderEntry, urlPrefix: `http://127.0.0.1:${at.extenderPort}` }];
    return startSecondScheduler(own().cluster, { ...at, configuration: { ...shipped, extenders } });
  }

  async function shippedConfiguration(): Promise<{ readonly extenders: readonly object[] }> {
    const manifests = await builtManifests(own().cluster.kubeconfig, OVERLAY);
    const found = manifests.find(
      (object) => at(object, 'kind') === 'ConfigMap' && at(object, 'metadata.name') === 'plimsoll-scheduler',
    );
    return parse(String((at(found, 'data') as Record<string, unknown>)['scheduler.yaml'])) as {
      extenders: readonly object[];
    };
  }

  const { createClass, create, poke, placed } = preemptionScenario(own, 'plimsoll');

  test('with hard budgets it takes no pod that a PodDisruptionBudget keeps', async () => {
    const budget = { metadata: { name: 'all' }, spec: { minAvailable: 1, selector: { matchLabels: LABELS } } };
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    expect(await own().admin.request({ method: 'POST', path: budgets, body: budget })).toMatchObject({ kind: 'ok' });
    await eventually(async () => {
      const found = await own().admin.request({ path: `${budgets}/all` });
      expect(at(found, 'object.status.desiredHealthy')).toBe(1);
    }, PATIENCE_MS);
    const before = await removedNodes();
    await createClass('higher', 2_000);
    await create('kept-out', 'higher');
    // Both nodes are taken away in each attempt, and what the first had done would show by the last.
    for (let round = 0; round < 3; round += 1) {
      await poke(`poke-${round}`);
      await eventually(async () => expect(await removedNodes()).toBeGreaterThan(before + 2 * round + 1), PATIENCE_MS);
    }
    expect(await placed()).toEqual(['important', 'opted-out']);
  }, 60_000);

  async function removedNodes(): Promise<number> {
    return Number(REMOVED.exec(await extender.metrics())?.groups?.['nodes'] ?? 0);
  }

  test('its Deployment passes admission: quota, pod security, and the scheduler of the cluster places it', async () => {
    await eventually(async () => {
      const path = '/api/v1/namespaces/plimsoll-system/pods';
      const labelSelector = 'app.kubernetes.io/component=scheduler';
      const found = await own().admin.request({ path, query: { labelSelector } });
      expect(textAt(found.kind === 'ok' ? found.object : found, 'items.0.spec.nodeName')).toMatch(/^node-/);
    }, PATIENCE_MS);
  });

  test('the extender counts what became of the nodes that were proposed', async () => {
    expect(await removedNodes()).toBeGreaterThan(0);
  });

  test('the rights of its account are those of the golden list', async () => {
    const rights = await rightsOf(own(), ACCOUNT, ['default', ACCOUNT.namespace, 'kube-system']);
    await expect(rights).toMatchFileSnapshot('golden/rights-of-kube-scheduler.txt');
  });
});
