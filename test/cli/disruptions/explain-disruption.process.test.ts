import { describe, expect, test } from 'vitest';
import { decodeDisruption } from '#shared/api/disruption.ts';
import { sentencesOf } from '#cli/explain/explain-disruption.ts';
import { EXAMPLE_CLUSTER, examplePod } from '#test/cli/example-cluster.ts';
import { TAKEN_AT, takenList } from '#test/cli/node-pressures.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { EVICTED, exampleDisruption, EXAMPLE_DISRUPTIONS, PLACED_ELSEWHERE, STORM } from './example-disruptions.ts';

const INPUT = takenList([...EXAMPLE_CLUSTER, ...EXAMPLE_DISRUPTIONS]);
const explain = (words: string, input = INPUT) => runPlimsoll(['explain', ...words.split(' '), '-f', '-'], input);

const OF_EVICTED = [
  'pod reports/nightly-7 was evicted from node node-1, at 2026-01-01T11:50:00Z (10m ago)',
  '  it belonged to Job nightly, and had priority -10 (class batch), given by rule workers/jobs',
  '  requested by: plimsoll-agent',
  '  reason: uses 2Gi memory, over its request of 1Gi, priority -10 (Ranked, signal=memory.available, usage=2Gi)',
  '  it was gone after 12s, at 2026-01-01T11:50:12Z',
  '  it was replaced by pod nightly-8 on another node, node-2',
  '  on node node-1 pods of its owner are placed last until 2026-01-01T12:20:00Z',
  '',
  'NEXT IN THE RANKING   PRIORITY   REASON',
  'nightly-0             -10        Ranked',
  '<another namespace>   1000       RankedWithinRequest',
  '',
];

describe('plimsoll explain disruption', () => {
  test('an eviction: what, when, by whom, why, against what it stood, and what became of it', async () => {
    expect(await explain('disruption nightly-7.0a1b2c3d -n reports')).toEqual({
      code: 0,
      stdout: OF_EVICTED.join('\n'),
      stderr: '',
    });
  });

  test.each(['disr/nightly-7.0a1b2c3d -n reports', 'disruptions reports/nightly-7.0a1b2c3d'])('%s', async (words) => {
    const { stdout } = await explain(`${words} -o jsonpath={.metadata.namespace}/{.spec.pod}`);
    expect(stdout).toBe('reports/nightly-7');
  });

  test('one that does not exist', async () => {
    const { code, stderr } = await explain('disruption other -n shop');
    expect([code, stderr]).toEqual([
      2,
      'error: Disruption shop/other not found; list them with plimsoll disruptions -n shop\n',
    ]);
  });
});

describe('plimsoll explain pod, of a pod that is gone', () => {
  test('a week later, from the record alone: where room was set aside, and where the pod was placed', async () => {
    expect(await explain('pod payments/invoice-0', takenList(EXAMPLE_DISRUPTIONS))).toEqual({
      code: 0,
      stdout: [
        'pod payments/invoice-0 does not exist; 1 Disruption says what removed it',
        '',
        'pod payments/invoice-0 was preempted on node node-1, at 2025-12-25T12:00:00Z (7d ago)',
        '  it belonged to Job nightly, and had priority -10 (class batch)',
        '  requested by: not recorded, because it is not certain',
        '  reason: a scheduler preempted it to make room for a pod of higher priority (Preempted)',
        '  room on node node-1 was set aside for pod checkout-0 with priority 1000 (class critical), UID 0c9e4a1b-52d7-4a55-9d5e-3f3f1d3c8a10; that pod was placed on node node-2',
        '  it was gone after 30s, at 2025-12-25T12:00:30Z',
        '  it was replaced by pod invoice-1 on the same node, node-1',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('every removal of that name, the newest first', async () => {
    const before = exampleDisruption({ pod: 'nightly-7', cause: 'Drain', removedAt: '2025-12-31T12:00:00Z' });
    const renamed = { ...before, metadata: { ...before.metadata, name: 'nightly-7.99999999' } };
    const { stdout } = await explain('pod reports/nightly-7', takenList([renamed, ...EXAMPLE_DISRUPTIONS]));
    expect(stdout.split('\n').filter((line) => line.startsWith('pod '))).toEqual([
      'pod reports/nightly-7 does not exist; 2 Disruptions say, the newest first, what removed it',
      OF_EVICTED[0],
      'pod reports/nightly-7 was removed from node node-1 while the node was drained, at 2025-12-31T12:00:00Z (24h ago)',
    ]);
  });

  test('one of many that were removed at once: the record that stands for all of them', async () => {
    const { stdout } = await explain('pod reports/nightly-4', takenList(EXAMPLE_DISRUPTIONS));
    expect(stdout.split('\n').slice(0, 6)).toEqual([
      'pod reports/nightly-4 does not exist; 1 Disruption says what removed it',
      '',
      'pod reports/nightly-2 was removed from node node-1 because of a taint, at 2026-01-01T11:59:00Z (60s ago)',
      '  it belonged to Job nightly, and had priority -10 (class batch)',
      '  the record stands for 35 pods of that owner, which were removed within seconds',
      '  pod nightly-4 is one of them; its own node and time are not recorded',
    ]);
    expect((await explain('pod shop/nightly-4', takenList(EXAMPLE_DISRUPTIONS))).code).toBe(2);
  });

  test('without a record', async () => {
    const { code, stderr } = await explain('pod shop/web-0');
    expect([code, stderr]).toEqual([2, 'error: pod shop/web-0 not found; no Disruption of a pod of that name found\n']);
  });
});

test('plimsoll explain pod, of a pod that exists: what its owner lost in the last week', async () => {
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'nightly', uid: 'job', controller: true }];
  const pod = { namespace: 'reports', className: 'batch', priority: -10, cpu: '1', node: 'node-1' };
  const old = exampleDisruption({ pod: 'nightly-1', cause: 'Drain', removedAt: '2025-12-20T12:00:00Z' });
  const items = [examplePod({ ...pod, name: 'nightly-8', metadata: { ownerReferences } }), old, ...EXAMPLE_DISRUPTIONS];
  const { stdout } = await explain('pod reports/nightly-8', takenList(items));
  expect(stdout).toContain(
    'Removed pods of its owner: 36 pods in the last 7 days: ' +
      'nightly-2 (Taint, 60s ago), nightly-7 (Eviction, 10m ago); see plimsoll disruptions -n reports\n',
  );
});

describe('sentencesOf', () => {
  const now = Date.parse(TAKEN_AT);
  const sentences = (raw: unknown, at = now) => {
    const disruption = decodeDisruption(raw);
    if (disruption === undefined) throw new Error('cannot decode the Disruption of a test');
    return sentencesOf(disruption, at);
  };
  const madeRoomFor = { uid: 'u', priority: 1000, nominatedNode: 'node-1' };
  const preempted = (spec: object, status: object) =>
    exampleDisruption({ pod: 'a', cause: 'Preemption', removedAt: TAKEN_AT, spec: { madeRoomFor, ...spec }, status });

  test.each([
    [
      'the pod that room was set aside for was placed there',
      preempted({}, { placedOn: 'node-1' }),
      'room on node node-1 was set aside for a pod of another namespace with priority 1000, UID u; that pod was placed there',
    ],
    [
      'its place is not known',
      preempted({}, { goneAt: TAKEN_AT }),
      'room on node node-1 was set aside for a pod of another namespace with priority 1000, UID u; ' +
        'where that pod was placed is not recorded: kube-scheduler may choose another node',
    ],
    [
      'a cause that the evidence does not show',
      exampleDisruption({ pod: 'a', cause: 'Unknown', removedAt: '2026-01-01T11:59:30Z' }),
      'pod reports/a was removed from node node-1 for an unknown cause, at 2026-01-01T11:59:30Z (30s ago)',
    ],
    ['many pods at once', STORM, 'the record stands for 35 pods of that owner, which were removed within seconds'],
    ['nothing is known yet', STORM, 'what became of it is not recorded yet'],
    ['it was not seen to end', preempted({}, { placedOn: 'node-1' }), 'it was not seen to be gone'],
    ['no replacement', preempted({ owner: undefined }, { goneAt: TAKEN_AT }), 'no pod replaces it: it had no owner'],
    [
      'the limits that it counts for',
      preempted({ debited: { limits: ['limit/web', 'owner/u'] } }, {}),
      'it counts for DisruptionLimit web and the default limit of its owner',
    ],
    [
      'a limit that the severe stage went beyond',
      preempted({ debited: { limits: ['limit/web'], overran: 'limit/web' } }, {}),
      'it counts for DisruptionLimit web, and went beyond DisruptionLimit web',
    ],
    [
      'a hard avoid entry',
      preempted({}, { avoid: { until: '2026-01-01T13:00:00Z', hard: true } }),
      'on node node-1 no pod of its owner is placed until 2026-01-01T13:00:00Z',
    ],
  ])('%s', (_, raw, sentence) => {
    expect(sentences(raw)).toContain(sentence);
  });

  test('what is not recorded two hours later will not be', () => {
    expect(sentences(STORM, now + 7_200_000)).toContain('what became of it was not recorded');
  });

  test('no sentence says that a nominated node was decided', () => {
    expect([PLACED_ELSEWHERE, EVICTED].flatMap((each) => sentences(each)).join('\n')).not.toMatch(/decided|will be/);
  });
});
