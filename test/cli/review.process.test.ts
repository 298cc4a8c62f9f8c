import { describe, expect, test } from 'vitest';
import { podManifest, PODS, RULES } from './manifests.ts';
import { folderWith, runPlimsoll, verdicts } from './run-plimsoll.ts';

const folder = folderWith({ 'a-rules.yaml': RULES, 'b-pods.yml': PODS, 'notes.txt': 'not a manifest' });
const QUOTA_TEXT =
  'exceeded quota: high-pods, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1; ' +
  'quota `high-pods` in namespace `team-a`: `requests.cpu` is limited to 1; used 600m, ' +
  'requested 600m (priority class `high`); at most 400m would fit; largest pods: `first` (600m)';
const DEFAULT_PATCH = [
  { op: 'add', path: '/spec/priorityClassName', value: 'low' },
  { op: 'add', path: '/spec/priority', value: 100 },
  { op: 'add', path: '/spec/preemptionPolicy', value: 'Never' },
  { op: 'add', path: '/metadata/annotations', value: { 'plimsoll.dev/class-rule': 'teams' } },
];
const HIGH_PATCH = [
  { op: 'add', path: '/spec/priority', value: 1000 },
  { op: 'add', path: '/spec/preemptionPolicy', value: 'PreemptLowerPriority' },
];

describe('plimsoll review', () => {
  test('a table as kubectl prints it, with warnings and notes', async () => {
    expect(await runPlimsoll(['review', '-f', folder])).toEqual({
      code: 1,
      stdout: [
        'OBJECT                  ALLOWED   CODE   MESSAGE',
        'Pod/team-a/first        true      200    pod uses priority class `high` (1000)',
        `Pod/team-a/second       false     403    ${QUOTA_TEXT}`,
        'Pod/default/batch-      true      200    priority class `low` (100) is the default of policy `teams`',
        'Pod/kube-system/dns     true      200    namespace `kube-system` is exempt',
        'Deployment/team-a/api   true      200    the template may be used; each pod is checked when it is created',
        '',
      ].join('\n'),
      stderr:
        'Note: ignored objects of other kinds: v1 Service (1)\n' +
        'Warning: Deployment/team-a/api: pods of this template would be refused: no PriorityClass with name missing was found\n',
    });
  });

  test('JSON has one row per object', async () => {
    const { code, stdout, stderr } = await runPlimsoll(['review', '-o', 'json', '-f', folder]);
    expect({ code, stderr, list: JSON.parse(stdout) as unknown }).toEqual({
      code: 1,
      stderr: 'Note: ignored objects of other kinds: v1 Service (1)\n',
      list: {
        apiVersion: 'plimsoll.dev/v1alpha1',
        kind: 'ReviewResultList',
        items: [
          row('Pod/team-a/first', { message: 'pod uses priority class `high` (1000)', patch: HIGH_PATCH }),
          row('Pod/team-a/second', { allowed: false, code: 403, message: QUOTA_TEXT }),
          row('Pod/default/batch-', {
            message: 'priority class `low` (100) is the default of policy `teams`',
            patch: DEFAULT_PATCH,
          }),
          row('Pod/kube-system/dns', { message: 'namespace `kube-system` is exempt' }),
          row('Deployment/team-a/api', {
            resource: 'deployment.apps/api',
            message: 'the template may be used; each pod is checked when it is created',
            warnings: ['pods of this template would be refused: no PriorityClass with name missing was found'],
          }),
        ],
      },
    });
  });

  test.each([
    [
      'a policy',
      'PriorityPolicy',
      { namespaceSelecter: {} },
      '"spec.namespaceSelecter", did you mean "namespaceSelector"?',
    ],
    [
      'in a list',
      'PriorityPolicy',
      { subjects: [{ kind: 'User', nam: 'a' }] },
      '"spec.subjects[0].nam", did you mean "name"?',
    ],
    ['of a kind that is not judged', 'NodePressurePolicy', { mod: 'Enforce' }, '"spec.mod", did you mean "mode"?'],
    ['like none', 'PriorityQuota', { somethingElse: 1 }, '"spec.somethingElse"'],
  ])('an unknown field is refused: %s', async (_, kind, spec, said) => {
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind, metadata: { name: 'p' }, spec };
    const { code, stderr } = await runPlimsoll(['review', '-f', '-'], JSON.stringify(object));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: standard input: document 1: ${kind} p: unknown field ${said}\n`,
    });
  });

  test('labels, thresholds and fields of other kinds have any name', async () => {
    const policy = {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressurePolicy',
      metadata: { name: 'p', labels: { a: 'b' } },
      spec: { nodeSelector: { matchLabels: { pool: 'a' } }, evictionHard: { 'memory.available': '5%' } },
    };
    const other = { apiVersion: 'example.com/v1', kind: 'PriorityPolicy', metadata: { name: 'p' }, spec: { x: 1 } };
    const pod = podManifest('web', 'default', 'system-node-critical');
    const { code } = await runPlimsoll(
      ['review', '-f', '-'],
      [policy, other, pod].map((each) => JSON.stringify(each)).join('\n---\n'),
    );
    expect(code).toBe(0);
  });

  test('fails for a template whose pods would be refused, and on request for any warning', async () => {
    const template = { metadata: {}, spec: { priorityClassName: 'missing', containers: [] } };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { template } };
    expect((await runPlimsoll(['review', '-f', '-'], JSON.stringify(deployment))).code).toBe(1);
    const spec = { terminationGracePeriodSeconds: 3_600, containers: [{ name: 'main' }] };
    const slow = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'slow' }, spec };
    const classes = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'high' },
      value: 1_000,
    };
    const both = [classes, slow].map((each) => JSON.stringify(each)).join('\n---\n');
    const plain = await runPlimsoll(['review', '-f', '-'], both);
    expect([plain.code, plain.stderr]).toEqual([0, expect.stringContaining('Warning: Pod/default/slow: ')]);
    expect((await runPlimsoll(['review', '--fail-on-warnings', '-f', '-'], both)).code).toBe(1);
  });

  test('-o wide shows the patch, -o name what kubectl takes', async () => {
    const { stdout } = await runPlimsoll(['review', '-o', 'wide', '-f', folder]);
    expect(stdout.split('\n')[1]?.split(/ {3,}/)[3]).toBe(JSON.stringify(HIGH_PATCH));
    const names = ['pod/first', 'pod/second', 'pod/batch-', 'pod/dns', 'deployment.apps/api', ''].join('\n');
    expect((await runPlimsoll(['review', '-o', 'name', '-f', folder])).stdout).toBe(names);
  });

  test('YAML says the same', async () => {
    const { code, stdout } = await runPlimsoll(['review', '-o', 'yaml', '-n', 'team-b', '-f', '-'], PODS.slice(0, 200));
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout:
        'apiVersion: plimsoll.dev/v1alpha1\nkind: ReviewResultList\nitems:\n' +
        '  - object: Pod/team-a/first\n    resource: pod/first\n    allowed: false\n    code: 403\n' +
        `    message: 'pods "first" is forbidden: no PriorityClass with name high was found'\n` +
        '    warnings: []\n    patch: []\n',
    });
  });

  test('policies see the user and groups given', async () => {
    const args = ['-f', folder, '--as', 'bob', '--as-group', 'developers', 'others'];
    expect(await verdicts(args)).toEqual({
      'Pod/team-a/first': false,
      'Pod/team-a/second': false,
      'Pod/default/batch-': true,
      'Pod/kube-system/dns': true,
      // Developers have a ceiling, and how high a class that does not exist will be is not known.
      'Deployment/team-a/api': false,
    });
  });

  test('a quota across namespaces is charged where it is enforced, beyond what it has used', async () => {
    const namespaces = ['a', 'b', 'c'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, ...(name !== 'c' && { labels: { 'plimsoll.dev/priority-quota': 'enforced' } }) },
    }));
    const quota = {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'PriorityQuota',
      metadata: { name: 'all' },
      spec: { priorityClassNames: ['system-cluster-critical'], hard: { 'requests.cpu': '2' } },
      status: { used: { 'requests.cpu': '1' } },
    };
    const pods = ['a', 'b', 'c'].map((namespace) => podManifest('web', namespace, 'system-cluster-critical'));
    const list = { apiVersion: 'v1', kind: 'List', items: [...pods, ...namespaces, quota] };
    expect(await verdicts(['-f', '-'], JSON.stringify(list))).toEqual({
      'Pod/a/web': true,
      'Pod/b/web': false,
      'Pod/c/web': true,
    });
  });

  test('a list of pods need not say what its items are', async () => {
    const list = { apiVersion: 'v1', kind: 'PodList', items: [{ metadata: { name: 'x' }, spec: {} }] };
    expect(await verdicts(['-f', '-'], JSON.stringify(list))).toEqual({ 'Pod/default/x': true });
  });

  test('a kind of another group is not ours', async () => {
    const job = { apiVersion: 'batch.example.com/v1', kind: 'Job', metadata: { name: 'x' } };
    expect(await runPlimsoll(['review', '-f', '-', '-o', 'jsonpath={.items}'], JSON.stringify(job))).toEqual({
      code: 0,
      stdout: '[]',
      stderr: 'Note: ignored objects of other kinds: batch.example.com/v1 Job (1)\n',
    });
  });
});

function row(object: string, more: object): object {
  const resource = `pod/${object.split('/').at(-1)}`;
  return { object, resource, allowed: true, code: 200, warnings: [], patch: [], ...more };
}
