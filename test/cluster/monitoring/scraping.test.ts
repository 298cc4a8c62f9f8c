import { describe, expect, test } from 'vitest';
import { whyNoPodGroups } from '#test/agent/pod-groups.ts';
import { preemptionScenario } from '#test/cluster/scheduler/preemption-scenario.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { dashboardQueries } from './dashboard-queries.ts';
import { whyNoPromtool } from './promtool.ts';
import { alwaysShort, enforcing, RULES, TENANT, TENANT_LABELS } from './scraped-objects.ts';
import { KERNEL_NODE, NODE, scrapedProcesses } from './scraped-processes.ts';
import { eventually } from '#test/build/waiting.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const PODS = '/api/v1/namespaces/default/pods';
const WITHIN_MS = 120_000;
const TEST_MS = 300_000;

/** Queries that may have no data here, each with the reason. */
const MAY_BE_EMPTY: Readonly<Record<string, string>> = {
  'Plimsoll / Nodes › Processes ended by the kernel › {{node}}':
    'shows OOM kills of the last minutes only, and the test causes none on the machine that it runs on',
};

/** Dashboards of what is not switched on here: their queries are asked, and have no data. */
const OTHER_PARTS = ['Queues', 'Disruptions', 'Rescheduling', 'Spare room'].map((title) => `Plimsoll / ${title}`);

const why = whyNoOwnCluster(process.env) ?? whyNoPromtool(process.env) ?? whyNoKernelNode();

describe.skipIf(why !== undefined)(`Prometheus scrapes the processes of Plimsoll${why ?? ''}`, () => {
  const { own, prometheus, reported } = scrapedProcesses();

  async function post(path: string, body: object): Promise<unknown> {
    const made = await own().admin.request({ method: 'POST', path, body });
    expect(made).toMatchObject({ kind: 'ok' });
    return made;
  }

  /** Waits until Prometheus has data for the query. */
  const shows = (query: string): Promise<void> =>
    eventually(async () => expect(await prometheus().query(query)).not.toEqual([]), WITHIN_MS);

  /** Creates a pod that runs on NODE, as far as the API server knows, and uses memory there. */
  async function runOnNode(name: string, mebibytes: number) {
    const made = await post(PODS, pod(name, { nodeName: NODE }));
    const body = { status: { phase: 'Running', startTime: new Date().toISOString() } };
    const contentType = 'application/merge-patch+json';
    const path = `${PODS}/${name}/status`;
    expect(await own().admin.request({ method: 'PATCH', path, contentType, body })).toMatchObject({ kind: 'ok' });
    return { namespace: 'default', name, uid: textAt(made, 'object.metadata.uid'), mebibytes };
  }

  test('all of them answer', async () => {
    const jobs = async () => (await prometheus().query('up == 1')).map(({ metric }) => metric['job']).toSorted();
    const expected = ['agent', 'kernel-agent', 'scheduler', 'webhook'];
    await eventually(async () => expect(await jobs()).toEqual(expected), WITHIN_MS);
  });

  test(
    'every alert is evaluated without an error, and none fires while all is well',
    async () => {
      const alerts = async () => (await prometheus().alerts()).map(({ name, health, state }) => [name, health, state]);
      const well = (await alerts()).map(([name]) => [name, 'ok', 'inactive']);
      expect(well.length).toBeGreaterThan(20);
      await eventually(async () => expect(await alerts()).toEqual(well), WITHIN_MS);
    },
    TEST_MS,
  );

  preemptionScenario(own, 'default-scheduler');

  test(
    'a quota is charged, and a pod is refused',
    async () => {
      const { admin, cluster } = own();
      const rules = RULES.map((rule) => JSON.stringify(rule)).join('\n---\n');
      expect(await kubectl(cluster.kubeconfig, ['apply', '-f', '-'], rules)).toMatchObject({ status: 0 });
      await post('/api/v1/namespaces', { metadata: { name: TENANT, labels: TENANT_LABELS } });
      const path = `/api/v1/namespaces/${TENANT}/pods`;
      const create = (name: string, priorityClassName: string) =>
        admin.request({ method: 'POST', path, body: pod(name, { priorityClassName }) });
      await eventually(
        async () => expect(await create('high', 'high')).toMatchObject({ kind: 'forbidden' }),
        WITHIN_MS,
      );
      await eventually(async () => expect(await create('low', 'low')).toMatchObject({ kind: 'ok' }), WITHIN_MS);
    },
    TEST_MS,
  );

  test(
    'a pod is evicted',
    async () => {
      await post(POLICIES, enforcing(NODE));
      reported.use([await runOnNode('victim', 600)]);
      await shows('plimsoll_agent_enforcing{job="agent"} == 1');
      await shows('plimsoll_eviction_candidate_usage{job="agent",pod="victim"}');
      reported.setShort(true);
      const leaves = async () => at(await own().admin.request({ path: `${PODS}/victim` }), TERMINATING);
      await eventually(async () => expect(await leaves()).toBeDefined(), WITHIN_MS);
      await shows('plimsoll_evictions_total{job="agent",mode="enforce",result="evicted"} == 1');
    },
    TEST_MS,
  );

  test('a node is short of memory, and no pod on it may be evicted', async () => {
    await post(POLICIES, alwaysShort(KERNEL_NODE));
    await shows('plimsoll_evictions_held{job="kernel-agent"} == 1');
  }, 300_000);

  test(
    'every query of the dashboards returns data, except those that are listed',
    async () => {
      const queries = [...dashboardQueries()];
      expect(queries.length).toBeGreaterThan(30);
      expect(queries.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(MAY_BE_EMPTY)));
      const isOther = (name: string) => OTHER_PARTS.some((title) => name.startsWith(`${title} › `));
      const expected = queries.filter(([name]) => MAY_BE_EMPTY[name] === undefined && !isOther(name));
      for (const [name, query] of queries) if (isOther(name)) await prometheus().query(recent(query));
      const isEmpty = async (query: string) => (await prometheus().query(recent(query))).length === 0;
      const empty = async () => {
        const asked = await Promise.all(expected.map(async ([name, query]) => ((await isEmpty(query)) ? [name] : [])));
        return asked.flat();
      };
      await eventually(async () => expect(await empty()).toEqual([]), WITHIN_MS);
    },
    TEST_MS,
  );
});

const TERMINATING = 'object.metadata.deletionTimestamp';

/** A panel shows a line over time, so what was there some minutes ago counts. */
function recent(query: string): string {
  return `last_over_time((${query})[10m:2s])`;
}

function whyNoKernelNode(): string | undefined {
  const reason = whyNoPodGroups();
  return reason === undefined ? undefined : ` (not run: ${reason})`;
}
