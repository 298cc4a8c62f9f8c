import { beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { eventually } from '#test/build/waiting.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { processScene } from '#test/scheduler/process-scene.ts';

const TIMEOUT_MS = 60_000;
/** Longer than the period of a policy: its first pass may come before the watch shows the pods. */
const PATIENCE_MS = 45_000;
const PODS = '/api/v1/namespaces/default/pods';
const PLIMSOLL = '/apis/plimsoll.dev/v1alpha1';
const FLAGS = ['--extender=Off', '--nodes-passes=Off'];

describe('the scheduler process moves pods that fail', { timeout: TIMEOUT_MS }, () => {
  const { send, start } = processScene();

  beforeAll(async () => {
    for (const name of ['a', 'b']) await createNode(name);
    await start([...FLAGS, '--rescheduling-passes=On', '--disruptions-record=On']);
  }, TIMEOUT_MS);

  async function createNode(name: string): Promise<void> {
    const labels = { 'kubernetes.io/hostname': name };
    const status = { allocatable: { cpu: '10', memory: '20Gi', pods: '110' } };
    await send('POST', '/api/v1/nodes', { metadata: { name, labels }, status });
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name } };
    await send('POST', `${PLIMSOLL}/nodepressures`, object);
  }

  /** A pod that has run for an hour, unless its status says otherwise; of a kind that no controller here looks after. */
  async function createPod(owner: string, node: string, status: object = {}): Promise<string> {
    const reference = {
      apiVersion: 'example.dev/v1',
      kind: 'Rollout',
      name: owner,
      uid: `uid-${owner}`,
      controller: true,
    };
    const metadata = { generateName: `${owner}-`, ownerReferences: [reference], labels: { app: owner } };
    const containers = [{ name: 'main', image: 'i', resources: { requests: { cpu: '1', memory: '1Gi' } } }];
    const pod = await send('POST', PODS, { metadata, spec: { nodeName: node, containers } });
    const running = {
      phase: 'Running',
      startTime: new Date(Date.now() - HOUR_MS).toISOString(),
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await send('PATCH', `${PODS}/${textAt(pod, 'metadata.name')}/status`, { status: { ...running, ...status } });
    return textAt(pod, 'metadata.uid');
  }

  async function createPolicy(name: string, badService: object): Promise<void> {
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'ReschedulingPolicy', metadata: { name } };
    const spec = { mode: 'Enforce', aggressiveness: 'High', schedule: { period: '30s' }, badService };
    await send('POST', `${PLIMSOLL}/reschedulingpolicies`, { ...head, spec });
  }

  const statusOf = async (name: string) => at(await send('GET', `${PLIMSOLL}/reschedulingpolicies/${name}`), 'status');

  /** Owners that node `a` is to be avoided by, with the minutes that are left. */
  async function avoided(): Promise<readonly (readonly [string, number])[]> {
    const { avoid } = decodeNodePressure(await send('GET', `${PLIMSOLL}/nodepressures/a`));
    return avoid.map(({ owner, until }) => [owner.name, Math.round((until - Date.now()) / 60_000)] as const);
  }

  /** The one pod that the policy has evicted; its record says the same, and the node is avoided for an hour. */
  async function expectMoved(policy: string, uid: string, owner: string, because: object): Promise<void> {
    await eventually(async () => expect(await statusOf(policy)).toMatchObject({ evicted: [{ uid }] }), PATIENCE_MS);
    await eventually(async () => {
      const records = at(
        await send('GET', `${PLIMSOLL}/namespaces/default/disruptions`),
        'items',
      ) as readonly unknown[];
      const found = records.filter((each) => textAt(each, 'spec.podUID') === uid);
      expect(found).toMatchObject([{ spec: { cause: 'Rescheduling', because } }]);
    }, PATIENCE_MS);
    expect(await avoided()).toContainEqual([owner, 60]);
    await send('DELETE', `${PLIMSOLL}/reschedulingpolicies/${policy}`);
  }

  test('the victim: one whose containers were killed for memory, and the record says so (S3-4, S3-31)', async () => {
    const killed = { name: 'main', restartCount: 4, lastState: { terminated: { reason: 'OOMKilled' } } };
    const uid = await createPod('killed', 'a', { containerStatuses: [killed] });
    await createPod('killed', 'b');
    await createPolicy('victims', { oomKills: 4 });
    await expectMoved('victims', uid, 'killed', {
      code: 'BadServiceVictim',
      text: 'victim on node a: the pod was killed for memory 4 times (limit 4)',
    });
  });

  test('the aggressor: one that uses more than it requests of what another pod waits for (S3-5)', async () => {
    const web = await createPod('web', 'a');
    await createPod('web', 'b');
    const busy = await createPod('busy', 'a');
    await createPod('busy', 'b');
    const pods = [
      { pod: 'default/web', uid: web, cpu: '500m', waiting: { cpu: 63 } },
      { pod: 'default/busy', uid: busy, cpu: '2500m', waiting: {} },
    ];
    const status = { observedAt: new Date().toISOString(), mode: 'DryRun', conditions: [], pods };
    await send('PATCH', `${PLIMSOLL}/nodepressures/a/status`, { status });
    await createPolicy('aggressors', { stalls: 40, move: 'Aggressor' });
    await expectMoved('aggressors', busy, 'busy', {
      code: 'BadServiceAggressor',
      text: expect.stringMatching(
        /^aggressor on node a: the pod uses 2.50 cores of cpu and requests 1.00 cores, while pod default\/web-\w+ waits for cpu 63% of the time \(limit 40%\)$/,
      ) as string,
    });
  });

  const NONE_AN_HOUR = [{ max: 0, window: '1h' }];

  test.each([
    {
      owner: 'limited',
      path: `${PLIMSOLL}/namespaces/default/disruptionlimits`,
      kind: 'DisruptionLimit',
      name: 'none',
      restarts: 9,
      spec: { selector: { matchLabels: { app: 'limited' } }, limits: NONE_AN_HOUR },
      example: 'DisruptionLimit default/none has 0 disruptions left',
    },
    {
      owner: 'defaulted',
      path: `${PLIMSOLL}/disruptionpolicies`,
      kind: 'DisruptionPolicy',
      name: 'plimsoll',
      restarts: 10,
      spec: { defaults: [{ limits: NONE_AN_HOUR }] },
      example: 'the default limit of default/Rollout/defaulted has 0 disruptions left',
    },
  ])(
    'a pod without room under a $kind stays, and the status says why',
    async ({ owner, path, kind, name, restarts, spec, example }) => {
      await send('POST', path, { apiVersion: 'plimsoll.dev/v1alpha1', kind, metadata: { name }, spec });
      const restarted = { name: 'main', restartCount: restarts };
      await createPod(owner, 'a', { containerStatuses: [restarted] });
      await createPod(owner, 'b');
      await createPolicy(owner, { restarts });
      await eventually(async () => {
        const left = [{ code: 'LimitReached', count: 1, example }];
        expect(await statusOf(owner)).toMatchObject({ planned: 0, evicted: [], left });
      }, PATIENCE_MS);
      await send('DELETE', `${PLIMSOLL}/reschedulingpolicies/${owner}`);
      await send('DELETE', `${path}/${name}`);
    },
  );

  test('the owner of refused pods is kept away from the node, and no pod is evicted (S3-4)', async () => {
    const status = { phase: 'Failed', reason: 'OutOfcpu', startTime: new Date().toISOString(), conditions: [] };
    await createPod('refused', 'a', status);
    await createPod('refused', 'a', status);
    await createPolicy('refusals', { refused: 2 });
    await eventually(async () => expect(await avoided()).toContainEqual(['refused', 60]), PATIENCE_MS);
    await eventually(async () => {
      expect(await statusOf('refusals')).toMatchObject({
        planned: 0,
        evicted: [],
        keptAway: [{ owner: 'default/Rollout/refused', node: 'a' }],
      });
    }, PATIENCE_MS);
  });
});
