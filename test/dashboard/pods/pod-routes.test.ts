import { afterEach, describe, expect, test } from 'vitest';
import { admitAll } from '#dashboard/access/admit.ts';
import type { FoundPodView } from '#dashboard/pods/find-pods.ts';
import type { Overview } from '#dashboard/pods/overview.ts';
import type { PodView } from '#dashboard/views/pod.ts';
import { generateCluster } from '#test/dashboard/generated-cluster.ts';
import { answerAt, refusalAt, servedDashboard, tenant } from '#test/dashboard/served-dashboard.ts';

describe('/api/pods', () => {
  const dashboard = servedDashboard(generateCluster(10, Date.now()).sources);
  const start = async (...how: Parameters<typeof dashboard.start>) => `${await dashboard.start(...how)}/api/pods`;

  afterEach(dashboard.stop);

  test('a pod that waits says for what, in which queue, and since when', async () => {
    expect(await answerAt<PodView>(`${await start()}/team-1/train-7`)).toMatchObject({
      pod: 'team-1/train-7',
      state: 'Waits',
      code: 'AtMaximum',
      why: 'waits for 2 cpu: queue research is at its maximum 10; before team-2/train-8: it came first',
      queue: 'research',
      requests: '2 cpu, 4Gi memory',
      className: 'standard',
      before: [],
    });
  });

  test('a pod that runs says what it uses, its place, and who would be evicted before it', async () => {
    const pod = await answerAt<PodView>(`${await start()}/team-2/worker-9-2`);
    expect(pod).toMatchObject({ state: 'Runs', node: 'node-009', usage: '1.2 cpu, 512Mi memory' });
    expect(pod.place).toMatchObject({ rank: 3, priority: 200 });
    expect(pod.before.map((each) => each.pod)).toEqual(['team-0/worker-9-0', 'team-1/worker-9-1']);
  });

  test.each([
    ['web-5d-abcde', 'Refused', /^ReplicaSet web-5d could not create it: .*exceeded quota: critical-tier/],
    ['web-5d', 'Refused', /exceeded quota/],
    ['batch-1', 'Removed', /preempted/],
    ['no-such', 'Unknown', /no record or Event/],
  ])('%s is %s', async (name, state, why) => {
    const pod = await answerAt<PodView>(`${await start()}/team-1/${name}`);
    expect([pod.state, pod.why]).toEqual([state, expect.stringMatching(why)]);
  });

  test('a removed pod has its record: for whom, and what became of both', async () => {
    const { removals } = await answerAt<PodView>(`${await start()}/team-1/batch-1`);
    expect(removals).toMatchObject([
      { kind: 'preemption', madeRoomFor: 'team-1/web-9', placedOn: 'node-004', replacement: 'team-1/batch-1-again' },
    ]);
  });

  test('a tenant gets pods of own namespaces alone, and no name of others', async () => {
    const url = await start(tenant);
    const own = await answerAt<PodView>(`${url}/team-1/worker-9-1`);
    expect([own.place?.pod, own.before.map(({ pod, why }) => [pod, why])]).toEqual(['team-1/worker-9-1', [['', '']]]);
    const text = JSON.stringify([
      own,
      await answerAt(`${url}/team-1/train-7`),
      await answerAt(`${url}/overview`),
      await answerAt(`${url}?text=team`),
      await answerAt(`${url}?text=worker`),
    ]);
    expect(text).not.toMatch(/team-[02]\//);
    expect(text).toContain('team-1/worker-9-1');
    const other = await fetch(`${url}/team-2/worker-9-2`);
    expect([other.status, await other.json()]).toEqual([
      403,
      expect.objectContaining({ message: expect.stringContaining('bind the ClusterRole view') as unknown }),
    ]);
    expect((await answerAt<Overview>(`${url}/overview`)).namespaces).toEqual(['team-1']);
  });

  test('nothing of a namespace that the viewer may not see is read for a search', async () => {
    const read: string[] = [];
    const podNames = (text: string) => Promise.resolve((read.push(text), []));
    const url = await start(tenant, { podNames });
    for (const text of ['team-2/we', 'team-1/we', 'we']) await answerAt(`${url}?text=${text}`);
    expect(read).toEqual(['team-1/we', 'we']);
  });

  test.each([
    ['train', ['team-1/train-7 waits']],
    ['TEAM-1/WEB-5', ['team-1/web-5d-fghij in the cluster']],
    ['worker-9-2', ['team-2/worker-9-2 on node-009']],
    ['thumbnails', ['team-2/thumbnails Preempted']],
    ['', []],
    ['x'.repeat(400), []],
  ])('a search for %s finds %o', async (text, pods) => {
    const { found } = await answerAt<{ found: readonly FoundPodView[] }>(`${await start()}?text=${text}`);
    expect(found.map(({ pod, where }) => `${pod} ${where}`)).toEqual(pods);
  });

  test.each([
    ['/team-1/A%20B', 400, /^pod: expected the name of a pod, got "A B"/],
    ['/team-1/a,metadata.name%3Db', 400, /^pod: expected/],
    ['/-/a', 400, /^namespace: expected/],
  ])('%s is %i', async (path, status, message) => {
    expect(await refusalAt((await start()) + path)).toEqual([status, expect.stringMatching(message)]);
  });

  test('an API server that does not answer is said, and more than eight pages at once are told to wait', async () => {
    const held = Promise.withResolvers<undefined>();
    const url = await start(admitAll, {
      readPod: async ({ name }) => {
        if (name === 'held') await held.promise;
        return { kind: 'unavailable', message: 'no answer' };
      },
    });
    const waiting = Array.from({ length: 9 }, () => fetch(`${url}/team-1/held`));
    const first = await Promise.race(waiting);
    expect([first.status, await first.json()]).toMatchObject([
      503,
      { message: 'too many questions at once; try again' },
    ]);
    held.resolve(undefined);
    expect((await Promise.all(waiting)).every(({ status }) => status === 503)).toBe(true);
    expect(await (await fetch(`${url}/team-1/a`)).json()).toMatchObject({ message: 'cannot read pod a: no answer' });
  });
});
