import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '#shared/runtime/configuration.ts';
import { RENAMED, schedulerSchema } from '#scheduler/configuration.ts';
import { leaseName } from '#scheduler/scheduler.ts';

test.each([
  ['a certificate without its key', { certFile: 'cert' }, 'certFile and keyFile are needed together'],
  [
    'an authority of callers without TLS',
    { clientCaFile: 'ca' },
    'clientCaFile requires certFile: without TLS, clients present no certificate',
  ],
])('%s is refused', (_, tls, message) => {
  const parsed = schedulerSchema.safeParse({ tls });
  expect(parsed.error?.issues.map((issue) => issue.message)).toEqual([message]);
});

function load(argv: readonly string[], env: Record<string, string> = {}, file = ''): readonly string[] {
  const text = `apiVersion: config.plimsoll.dev/v1alpha1\nkind: SchedulerConfiguration\n${file}`;
  const sources = { kind: 'SchedulerConfiguration', schema: schedulerSchema, renamed: RENAMED, envPrefix: 'PLIMSOLL' };
  const loaded = loadConfiguration({ ...sources, argv: [...argv, '--config=f'], env, readFile: () => text });
  return loaded.ok ? [] : loaded.mistakes;
}

describe('keys of earlier versions are refused with the new name', () => {
  test.each([
    ['--queues=On', '--queues-passes'],
    ['--queue-lease-name=x', '--leader-election-name'],
    ['--nodes-lease-namespace=x', '--leader-election-namespace'],
    ['--rescheduling-lease-name=x', '--leader-election-name'],
  ])('the flag %s', (flag, use) => {
    expect(load([flag])).toEqual([`${flag.split('=')[0]}: renamed, use ${use} instead`]);
  });

  test('variables, which would otherwise be ignored', () => {
    expect(load([], { PLIMSOLL_QUEUES: 'On', PLIMSOLL_DISRUPTIONS_LEASE_NAME: 'x' })).toEqual([
      'PLIMSOLL_QUEUES: renamed, set PLIMSOLL_QUEUES_PASSES instead',
      'PLIMSOLL_DISRUPTIONS_LEASE_NAME: renamed, set PLIMSOLL_LEADER_ELECTION_NAME instead',
    ]);
  });

  test('keys of the file, also where the new key is an object of the same name', () => {
    const file = 'queues: On\nqueueLease: { name: x }\nnodes: { leaseName: x }\n';
    expect(load([], {}, file).toSorted()).toEqual([
      'nodes.leaseName: renamed, use leaderElection.name instead',
      'queueLease: renamed, use leaderElection instead',
      'queues: renamed, use queues.passes instead',
    ]);
  });

  test('the new names are read', () => {
    const flags = ['--queues-passes=On', '--leader-election-name=x'];
    expect(load(flags, { PLIMSOLL_LOG_LEVEL: 'debug' }, 'disruptions: { record: On }\n')).toEqual([]);
  });
});

describe('settings that are fields of objects now are refused with the field', () => {
  const NODES = 'the NodePressurePolicy of the nodes';
  const use = (field: string) => `set ${field} instead, which takes effect without a restart`;
  test.each([
    ['queues.reclaim', '--queues-reclaim=Enforce', 'spec.reclaim.mode of Queue root'],
    ['queues.reclaimBy', '--queues-reclaim-by=Shares', 'spec.reclaim.by of Queue root'],
    ['queues.reclaimOveruse', '--queues-reclaim-overuse', 'spec.reclaim.overuse of Queue root'],
    ['queues.replacements', '--queues-replacements=InTurn', 'spec.reclaim.replacements of Queue root'],
    ['reclaim', '--reclaim=Enforce', 'spec.reclaim.mode of Queue root'],
    ['disruptions.keepDays', '--disruptions-keep-days=3', 'spec.retention.period of DisruptionPolicy plimsoll'],
    [
      'disruptions.keepPerNamespace',
      '--disruptions-keep-per-namespace=9',
      'spec.retention.perNamespace of DisruptionPolicy plimsoll',
    ],
    ['disruptions.keepInAll', '--disruptions-keep-in-all=9', 'spec.retention.total of DisruptionPolicy plimsoll'],
    ['nodes.avoidance', '--nodes-avoidance=Enforce', `spec.avoidance.mode of ${NODES}`],
    ['nodes.taints', '--nodes-taints=Off', `spec.taints.mode of ${NODES}`],
    ['nodes.families', '--nodes-families=Memory', `spec.taints.families of ${NODES}`],
    ['nodes.transitionSeconds', '--nodes-transition-seconds=5', `spec.taints.transitionPeriod of ${NODES}`],
    ['nodes.unknownSeconds', '--nodes-unknown-seconds=5', `spec.taints.unknownPeriod of ${NODES}`],
    ['nodes.avoidForSeconds', '--nodes-avoid-for-seconds=5', `spec.avoidFor of ${NODES}`],
    ['nodes.longestAvoidSeconds', '--nodes-longest-avoid-seconds=5', `spec.avoidance.longest of ${NODES}`],
    ['nodes.loopRounds', '--nodes-loop-rounds=5', `spec.avoidance.loop.rounds of ${NODES}`],
    ['nodes.loopWindowSeconds', '--nodes-loop-window-seconds=90', `spec.avoidance.loop.window of ${NODES}`],
    ['nodes.loopAction', '--nodes-loop-action=Forbid', `spec.avoidance.loop.action of ${NODES}`],
    ['queueReplacements', '--queue-replacements=InTurn', 'spec.reclaim.replacements of Queue root'],
  ])('%s, as a flag, a variable and a key of the file', (key, flag, field) => {
    const [name = ''] = flag.split('=');
    const variable = `PLIMSOLL_${name.slice(2).replaceAll('-', '_').toUpperCase()}`;
    const [outer = '', inner] = key.split('.');
    const file = inner === undefined ? `${outer}: x` : `${outer}: { ${inner}: x }`;
    expect(load([flag])).toEqual([`${name}: ${use(field)}`]);
    expect(load([], { [variable]: 'Enforce' })).toEqual([`${variable}: ${use(field)}`]);
    expect(load([], {}, file)).toEqual([`${key}: ${use(field)}`]);
  });
});

test('a process has one Lease: of its only part, one for several parts, or the configured one', () => {
  const name = (leaderElection: object, ...leases: string[]) =>
    leaseName(
      schedulerSchema.parse({ leaderElection }),
      leases.map((lease) => ({ lease })),
    );
  expect([name({}, 'plimsoll-queues'), name({}, 'plimsoll-queues', 'plimsoll-rescheduling')]).toEqual([
    'plimsoll-queues',
    'plimsoll-controller',
  ]);
  expect(name({ name: 'own' }, 'plimsoll-queues')).toBe('own');
});
