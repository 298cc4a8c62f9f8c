import { beforeAll, describe, expect, inject, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { at, contractHarness, pod } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn, POLICIES, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { plainNames } from '#test/cluster/admission/support/plain-names.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';

/** For a collection, kubectl sends one request per object; other clients send one for all. */
const TOGETHER = { together: 'yes' };

describe.skipIf(!hasCluster())('changes of priority classes that something depends on', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const names = { usual: '', named: '', counted: '', used: '', limited: '', free: '' };

  beforeAll(async () => {
    names.usual = await objects.priorityClass('usual', 100, { globalDefault: true });
    names.named = await objects.priorityClass('named', 200, {}, { labels: TOGETHER });
    names.counted = await objects.priorityClass('counted', 300);
    names.used = await objects.priorityClass('used', 400);
    names.limited = await objects.priorityClass('limited', 500);
    names.free = await objects.priorityClass('free', 600);
    await objects.policy('policy', { namespaceSelector: onlyIn(api), defaultPriorityClassName: names.named });
    const ofQuota = { namespaceSelector: onlyIn(api), priorityClassNames: [names.counted] };
    await objects.priorityQuota('quota', { ...ofQuota, hard: { pods: '5' } });
    await api.post(api.core('pods'), pod('web', { priorityClassName: names.used }));
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: [names.limited] }];
    const spec = { hard: { pods: '5' }, scopeSelector: { matchExpressions } };
    await api.post(api.core('resourcequotas'), { metadata: { name: 'tier' }, spec });
  });

  const removed = (name: keyof typeof names) => () => ['delete', 'priorityclass', names[name]];
  const cases: Readonly<Record<string, { args: () => readonly string[]; input?: () => object; says: RegExp }>> = {
    'a class that a policy gives is removed': { args: removed('named'), says: /denied/ },
    'a class that a PriorityQuota counts is removed': { args: removed('counted'), says: /denied/ },
    'a class that a pod uses is removed': { args: removed('used'), says: /Warning/ },
    'a class that a ResourceQuota names is removed': { args: removed('limited'), says: /Warning/ },
    'an unreferenced class is deleted': { args: removed('free'), says: /deleted/ },
    'a second global default is made': {
      args: () => ['create', '--filename=-'],
      input: () => ({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'second' },
        value: 5,
        globalDefault: true,
      }),
      says: /forbidden|denied/,
    },
    'the only global default is none any more': {
      args: () => ['patch', 'priorityclass', names.usual, '--patch={"globalDefault":false}'],
      says: /Warning/,
    },
  };

  test('are refused or warned of, word for word', async () => {
    const sections: string[] = [];
    for (const [what, { args, input, says }] of Object.entries(cases)) {
      // The webhook observes references to a class shortly after they are written.
      const said = await eventually(async () => {
        const text = JSON.stringify(input?.() ?? {});
        const { stdout, stderr } = await kubectl(inject('kubeconfig'), [...args(), '--dry-run=server'], text);
        expect(stderr + stdout).toMatch(says);
        return stderr + stdout;
      });
      sections.push(`# ${what}\n${plainNames(said)}`);
    }
    await expect(sections.join('\n')).toMatchFileSnapshot('golden/class-changes.txt');
  });

  test('are also refused for a whole collection, and none of it is deleted', async () => {
    const query = { labelSelector: 'together=yes' };
    const { status, body } = await api.remove(PRIORITY_CLASSES, undefined, { query });
    expect([status, at(body, 'message')]).toEqual([
      403,
      expect.stringContaining(`\`${names.named}\` cannot be deleted`),
    ]);
    expect((await api.get(`${PRIORITY_CLASSES}/${names.named}`)).status).toBe(200);
  });

  test('are allowed as soon as nothing depends on the class', async () => {
    const needed = await objects.priorityClass('needed', 7);
    const policy = await objects.policy('other', {
      namespaceSelector: onlyIn(api),
      allowedPriorityClassNames: [needed],
    });
    const path = `${PRIORITY_CLASSES}/${needed}`;
    await eventually(async () => expect((await api.remove(path, undefined, DRY)).status).toBe(403));
    expect((await api.remove(`${POLICIES}/${policy}`)).status).toBe(200);
    expect((await api.remove(path)).status).toBe(200);
  });
});

const DRY = { query: { dryRun: 'All' } } as const;
