import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXAMPLE_CLUSTER, examplePod, uidOf } from '#test/cli/example-cluster.ts';
import { TAKEN_AT, takenList } from '#test/cli/node-pressures.ts';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';

type Changes = Partial<Parameters<typeof examplePod>[0]>;

function podOn(name: string, changes: Changes = {}): object {
  const usual = { namespace: 'reports', className: 'batch', priority: -10, cpu: '1', node: 'node-1' };
  return examplePod({ name, ...usual, ...changes });
}

function policyNamed(name: string, spec: object): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressurePolicy', metadata: { name }, spec };
}

function report(status: object): object {
  const all = { observedAt: TAKEN_AT, mode: 'Enforce', signals: [], ...status };
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-1' }, status: all };
}

function entry(name: string, usage: string, signal = 'memory.available'): object {
  const because = { code: 'Ranked', text: '', facts: { signal } };
  return { pod: `reports/${name}`, uid: uidOf(name), priority: -10, usage, request: '1Gi', because };
}

/** A node with pods of every sort: two that may go, one within its request that asked to stay, one of the system, one that is not measured. */
const CROWD = [
  ...EXAMPLE_CLUSTER,
  podOn('hourly-0', { className: 'critical', priority: 1000 }),
  podOn('keeper-0', { metadata: { annotations: { 'plimsoll.dev/evict': 'never' } } }),
  podOn('proxy', { namespace: 'kube-system' }),
  podOn('stranger', { namespace: 'elsewhere' }),
  podOn('unseen-0'),
  podOn('done-0', { status: { phase: 'Succeeded' } }),
];
const ENFORCED = policyNamed('batch', {
  mode: 'Enforce',
  evictionHard: { 'memory.available': '250Mi', 'pid.available': '10%' },
  evictionSoft: { 'memory.available': '10%' },
  evictionSoftGracePeriod: { 'memory.available': '1m' },
  evictionSoftMode: { 'memory.available': 'DryRun' },
});
const folder = folderWith({
  'crowd.json': takenList([...CROWD, ENFORCED, report({ next: [entry('nightly-0', '2Gi')] })]),
  'usage.txt': 'reports/hourly-0 3Gi\nreports/keeper-0 512Mi\n',
});
const crowd = join(folder, 'crowd.json');
const usage = join(folder, 'usage.txt');

const ACCEPTED =
  'accepted are numbers from 0, alone or with one of the suffixes k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei';
const simulate = (available: string, ...args: readonly string[]) =>
  runPlimsoll(['simulate', 'pressure', '-f', crowd, '--node', 'node-1', '--available', available, ...args]);

async function answerFor(objects: readonly object[], ...args: readonly string[]): Promise<Answer> {
  const all = ['simulate', 'pressure', '-f', '-', '--node', 'node-1', '-o', 'json', ...args];
  const { code, stdout } = await runPlimsoll(all, takenList(objects));
  return { ...(JSON.parse(stdout) as Answer), code };
}

const RANKED = 'uses 2Gi memory, over its request of 1Gi, priority -10; before reports/hourly-0: its priority is lower';

describe('plimsoll simulate pressure', () => {
  test('a table says who goes first and why, who never goes, and which threshold is met', async () => {
    expect(await simulate('200Mi', '--usage', usage)).toEqual({
      code: 0,
      stdout: [
        'node-1: reports/nightly-0 would be evicted first',
        '  memory.available is 200Mi, below the hard threshold of 250Mi (severe); policy batch, mode Enforce',
        '',
        'ORDER   POD                 PRIORITY   USAGE   REQUEST   REASON',
        `1       reports/nightly-0   -10        2Gi     1Gi       ${RANKED}`,
        '2       reports/hourly-0    1000       3Gi     1Gi       uses 3Gi memory, over its request of 1Gi, priority 1000',
        '',
        'NOT EVICTED          PRIORITY   REASON',
        'reports/keeper-0     -10        the pod asked never to be evicted',
        'kube-system/proxy    -10        the pod is in the protected namespace kube-system',
        'elsewhere/stranger   -10        the labels of namespace elsewhere are unknown; the namespace may have opted out',
        'reports/unseen-0     -10        the pod has no statistics',
        '',
        'THRESHOLD   LEAST   GRACE PERIOD   MODE      MET',
        'hard        250Mi   0s             Enforce   yes',
        'soft        819Mi   60s            DryRun    yes',
        '',
        '- memory usage is unknown for reports/unseen-0; missingStats is Never: the agent evicts no pod without a figure',
        '',
      ].join('\n'),
      stderr: [
        'Note: what is left is compared as reclaimable memory, as memoryFigure of the policy says',
        "Note: usage that was not given is from the agent's report of 2026-01-01T12:00:00.000Z, which lists at most ten pods",
        'Note: stalls (PSI), pods that are terminating and limits that earlier evictions have used up are not simulated',
        'Note: pass --usage to add figures of usage',
        '',
      ].join('\n'),
    });
  });

  test('a soft threshold alone is the mild stage, here in dry run', async () => {
    const { code, stdout } = await simulate('300Mi', '--usage', usage, '-o', 'yaml');
    const { stage, mode, because, victims } = parse(stdout) as Answer;
    expect({ code, stage, mode, victims, because: [because.code, because.text] }).toEqual({
      code: 0,
      stage: 'mild',
      mode: 'DryRun',
      victims: ['reports/nightly-0'],
      because: [
        'SoftThresholdMet',
        'memory.available is 300Mi, below the soft threshold of 819Mi (mild, pods are evicted after 60 s); policy batch, mode DryRun: the agent reports the eviction and removes no pod',
      ],
    });
  });

  test('above every threshold no pod goes, and the order is shown all the same', async () => {
    const { code, stage, because, victims, order } = await answerFor([...CROWD, ENFORCED], ...above());
    expect({ code, stage, text: because.text, victims, order: order.map(({ pod }) => pod) }).toEqual({
      code: 1,
      stage: 'none',
      text: 'memory.available is 6Gi; no threshold of policy batch is met',
      victims: [],
      order: ['reports/hourly-0'],
    });
  });

  test('a file counts before the report, and a report on another resource or too old does not count', async () => {
    const old = report({ observedAt: '2026-01-01T11:00:00Z', next: [entry('nightly-0', '2Gi')] });
    const ofCpu = report({ next: [entry('nightly-0', '2', 'cpu.pressure'), entry('hourly-0', '2Gi')] });
    const usages = async (object: object) => {
      const { order } = await answerFor([...CROWD, object], '--available', '1Mi', '--usage', usage);
      return order.map(({ pod, usage: used }) => `${pod} ${used}`);
    };
    expect(await usages(old)).toEqual(['reports/hourly-0 3Gi']);
    expect(await usages(ofCpu)).toEqual(['reports/hourly-0 3Gi']);
  });

  test.each([
    ['Never', ['reports/hourly-0']],
    ['Last', ['reports/hourly-0', 'reports/unseen-0', 'reports/nightly-0']],
    ['First', ['reports/unseen-0', 'reports/nightly-0', 'reports/hourly-0']],
  ])('missingStats %s: pods without a figure', async (missingStats, expected) => {
    const policy = policyNamed('p', { missingStats });
    const answer = await answerFor([...CROWD, policy], '--available', '1Mi', '--usage', usage);
    expect([answer.order.map(({ pod }) => pod), answer.withoutFigure.toSorted()]).toEqual([
      expected,
      ['reports/nightly-0', 'reports/unseen-0'],
    ]);
  });

  test.each([
    ['no pod that may go', ENFORCED, [], 'no pod of the node may be evicted'],
    [
      'a limit of 0',
      policyNamed('p', { limits: { perMinute: 0 } }),
      ['--usage', usage],
      'the limits of the policy allow no eviction',
    ],
  ])('%s: no pod goes although a threshold is met', async (_, policy, args, explanation) => {
    const { code, because, explanations } = await answerFor([...CROWD, policy], '--available', '1Mi', ...args);
    expect({ code, because: because.code, first: explanations[0] }).toEqual({
      code: 1,
      because: 'HardThresholdMet',
      first: explanation,
    });
  });

  test('pods that go together are named, as many as the policy allows at once', async () => {
    const evictionHard = { 'memory.available': '7Gi' };
    const policy = (concurrent: number) => policyNamed('p', { mode: 'Enforce', evictionHard, limits: { concurrent } });
    const message = async (concurrent: number) => {
      const objects = [...CROWD, policy(concurrent), report({ next: [entry('nightly-0', '2Gi')] })];
      return (await answerFor(objects, '--available', '1Mi', '--usage', usage)).message;
    };
    expect([await message(1), await message(2)]).toEqual([
      'node-1: reports/nightly-0 would be evicted first',
      'node-1: reports/nightly-0 would be evicted first, together with reports/hourly-0',
    ]);
  });

  test('a share of an unknown capacity is not compared', async () => {
    const args = ['--signal', 'pid.available', '--available', '1'];
    const unknown = await answerFor([...CROWD, ENFORCED], ...args);
    expect([unknown.code, unknown.thresholds, unknown.explanations.at(-1)]).toEqual([
      1,
      [{ kind: 'hard', gracePeriodSeconds: 0, mode: 'Enforce', met: 'unknown' }],
      'the capacity of pid.available is unknown, so a threshold in percent cannot be compared',
    ]);
    const signals = [{ name: 'pid.available', state: 'Far', available: '9', capacity: '1000' }];
    const known = await answerFor(
      [...CROWD, ENFORCED, report({ signals, next: [entry('hourly-0', '7', 'pid.available')] })],
      ...args,
    );
    expect([known.code, known.victims, known.thresholds[0]?.met]).toEqual([0, ['reports/hourly-0'], true]);
  });

  test('without a policy the mode is that of the agent, and an unreadable one enforces nothing', async () => {
    const next = [entry('nightly-0', '2Gi')];
    const available = ['--available', '1Mi'];
    expect(await answerFor([...CROWD, report({ next })], ...available)).toMatchObject({
      policy: 'default',
      mode: 'Enforce',
    });
    const dry = await answerFor([...CROWD, ENFORCED, report({ next, mode: 'DryRun' })], ...available);
    expect(dry.notes).toContain('the policy enforces, but the agent reports mode DryRun: it removes no pod');
    const broken = policyNamed('broken', { order: 9, mode: 'Sometimes' });
    const answer = await answerFor([...CROWD, ENFORCED, broken, report({ next })], ...available);
    expect([answer.policy, answer.mode]).toEqual(['batch', 'DryRun']);
    expect(answer.notes).toContain(
      'NodePressurePolicy broken cannot be read, so the agent removes no pod: spec.mode: expected DryRun or Enforce, got "Sometimes"; shown with policy batch',
    );
  });

  test.each([
    [
      'a node that is not there',
      ['--node', 'node-9', '--available', '1'],
      'node node-9 not found; there are node-1, node-2, node-3',
    ],
    [
      'no amount',
      ['--node', 'node-1', '--available', 'much'],
      `--available: expected a quantity such as 200Mi, got "much"; ${ACCEPTED}`,
    ],
    [
      'an unknown suffix',
      ['--node', 'node-1', '--available', '200Mib'],
      `--available: expected a quantity such as 200Mi, got "200Mib"; ${ACCEPTED}`,
    ],
    [
      'less than nothing',
      ['--node', 'node-1', '--available', '-1'],
      `--available: expected a quantity such as 200Mi, got "-1"; ${ACCEPTED}`,
    ],
  ])('%s is an error', async (_, args, message) => {
    expect(await runPlimsoll(['simulate', 'pressure', '-f', crowd, ...args])).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${message}\n`,
    });
  });
});

function above(): readonly string[] {
  return ['--available', '6Gi', '--usage', usage];
}

interface Answer {
  readonly code: number | null;
  readonly policy: string;
  readonly mode: string;
  readonly message: string;
  readonly stage: string;
  readonly because: { readonly code: string; readonly text: string };
  readonly victims: readonly string[];
  readonly order: readonly { readonly pod: string; readonly usage: string }[];
  readonly withoutFigure: readonly string[];
  readonly thresholds: readonly { readonly met: boolean | string }[];
  readonly explanations: readonly string[];
  readonly notes: readonly string[];
}
