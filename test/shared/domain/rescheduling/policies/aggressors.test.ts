import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { StalledResource } from '#shared/domain/pressure/signal.ts';
import type { BadServicePolicy } from '#shared/domain/rescheduling/policy.ts';
import type { PodFigures } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { buildNode } from '#test/build/cluster.ts';
import {
  codeOf,
  movesOf,
  NOON,
  passOn,
  type PassCase,
  replica,
  type ReplicaFields,
  UNDERUSED,
} from '#test/build/rescheduling.ts';

/* What a pod fails at beyond restarts, and which pod of its node moves for it (S3-4, S3-5). */

const GI = 1024 ** 3;
const SIZE = { cpu: '10', memory: '20Gi' };
const NODES = ['a', 'b'].map((name) => buildNode({ name, allocatable: SIZE }));
const SPARE = buildNode({ name: 'spare', allocatable: SIZE, isUnschedulable: true });

/** By the name of the pod. */
type Figures = Readonly<Record<string, Partial<PodFigures>>>;

interface Case extends PassCase {
  readonly figures?: Figures;
  readonly badService: BadServicePolicy;
}

/** Every owner has another ready pod, on a node that the policy leaves alone. */
function pass({ figures = {}, badService, pods = [], ...given }: Case) {
  const policy = { ...UNDERUSED, underused: undefined, badService };
  const figuresOf = (uid: string): PodFigures | undefined => {
    const found = figures[uid.replace('uid-', '')];
    return found && { waiting: {}, ...found };
  };
  const measurements = { ofNode: () => undefined, ofPod: () => undefined, figuresOf };
  const owners = new Set(pods.map(({ labels }) => labels.get('app') ?? ''));
  const spares = [...owners].map((owner) => replica({ name: `spare-${owner}`, node: 'spare', owner }));
  return passOn({ nodes: [...NODES, SPARE], policy, measurements, ...given, pods: [...pods, ...spares] });
}

function onA(name: string, fields: Partial<ReplicaFields> = {}): Pod {
  return replica({ name, node: 'a', owner: name, ...fields });
}

function ended(pod: Pod, restartCount: number, endReason: string): Pod {
  const container = { name: 'main', restartCount, endReason, resources: undefined, allocatedResources: undefined };
  return { ...pod, status: { ...pod.status, containers: [container] } };
}

describe('what a pod fails at (S3-4)', () => {
  const badService = { oomKills: 3, stalls: 40, move: 'Victim' } as const;

  test.each<[string, Pod, Partial<PodFigures> | undefined, string]>([
    [
      'kills that its agent counts',
      onA('web'),
      { oomKills: 3 },
      'victim on node a: the pod was killed for memory 3 times (limit 3)',
    ],
    [
      'containers that were last killed for memory, without an agent',
      ended(onA('web'), 3, 'OOMKilled'),
      undefined,
      'victim on node a: the pod was killed for memory 3 times (limit 3)',
    ],
    [
      'the resource that it waits for longest',
      onA('web'),
      { waiting: { cpu: 41, memory: 12, io: 60 } },
      'victim on node a: the pod waits for io 60% of the time (limit 40%)',
    ],
  ])('%s', (_, web, figures, because) => {
    const { moves } = pass({ badService, pods: [web], ...(figures && { figures: { web: figures } }) });
    expect(moves.map((move) => [move.pod.placed.pod.name, move.because.code, move.because.text])).toEqual([
      ['web', 'BadServiceVictim', because],
    ]);
    expect(moves[0]?.avoidForMs).toBe(3_600_000);
  });

  test.each<[string, Pod, Figures]>([
    ['fewer kills', onA('web'), { web: { oomKills: 2 } }],
    [
      'fewer kills by its agent, whatever its containers say',
      ended(onA('web'), 9, 'OOMKilled'),
      { web: { oomKills: 2 } },
    ],
    ['containers that ended for another reason', ended(onA('web'), 9, 'Error'), {}],
    ['less waiting', onA('web'), { web: { waiting: { cpu: 39 } } }],
    ['no figure at all', onA('web'), {}],
    ['what another pod fails at', onA('web'), { other: { oomKills: 9, waiting: { cpu: 99 } } }],
  ])('it stays with %s', (_, web, figures) => {
    expect(movesOf(pass({ badService, pods: [web], figures }))).toEqual([]);
  });

  test('one that fails at its new place as well was not helped', () => {
    const pods = [onA('web')];
    const first = pass({ badService, pods, figures: { web: { oomKills: 3 } } });
    const again = { ...onA('web'), uid: 'uid-again', spec: { ...onA('web').spec, nodeName: 'b' } };
    const young = { ...again, status: { ...again.status, startTime: NOON + 1_000 } };
    const later = { now: NOON + 600_000, memory: first.memory };
    const placed = pass({ badService, pods: [young], ...later });
    expect(placed.memory.policies.get('badService')).toMatchObject({ expected: 100, reached: 100 });
    const [owner] = pass({
      badService,
      pods: [young],
      figures: { again: { oomKills: 3 } },
      ...later,
      memory: placed.memory,
    }).memory.owners.values();
    expect(owner?.moves[0]?.replacement).toMatchObject({ reached: 0 });
  });
});

describe('which pod moves (S3-5)', () => {
  const badService = { restarts: 5, oomKills: 3, stalls: 40, move: 'Aggressor' } as const;
  const web = onA('web');
  const hungry = onA('hungry');
  const busy = onA('busy');
  const used: Figures = { hungry: { cpu: 900, memory: 3 * GI }, busy: { cpu: 2_500, memory: GI } };

  test.each<[string, Figures[string], readonly string[], string | undefined]>([
    [
      'the one beyond its request of cpu, where a pod waits for cpu',
      { waiting: { cpu: 63, memory: 10 } },
      ['busy a>b'],
      'aggressor on node a: the pod uses 2.50 cores of cpu and requests 1.00 cores, while pod default/web waits for cpu 63% of the time (limit 40%)',
    ],
    [
      'the one beyond its request of memory, where a pod waits for memory',
      { waiting: { cpu: 10, memory: 63 } },
      ['hungry a>b'],
      'aggressor on node a: the pod uses 3.00Gi of memory and requests 1.00Gi, while pod default/web waits for memory 63% of the time (limit 40%)',
    ],
    [
      'the same where one was killed for memory',
      { oomKills: 3 },
      ['hungry a>b'],
      'aggressor on node a: the pod uses 3.00Gi of memory and requests 1.00Gi, while pod default/web was killed for memory 3 times (limit 3)',
    ],
    ['no pod where one waits for io, which no pod requests', { waiting: { io: 63 } }, [], undefined],
  ])('%s', (_, figures, expected, because) => {
    const result = pass({ badService, pods: [web, hungry, busy], figures: { ...used, web: figures } });
    expect(movesOf(result)).toEqual(expected);
    expect(result.moves[0]?.because.text).toBe(because);
    if (because !== undefined) expect(result.moves[0]?.because.code).toBe('BadServiceAggressor');
  });

  test.each<[string, string, Pod, Partial<Pod>]>([
    ['no pod is known to use more than it requests', 'NoAggressor', web, {}],
    ['it was killed at its own memory limit', 'OwnLimit', onA('web', { limits: { memory: '1Gi' } }), {}],
    ['the aggressor is protected', 'AggressorStays', web, { annotations: new Map([['plimsoll.dev/evict', 'never']]) }],
  ])('none, and the failing pod stays for the reason that %s', (_, code, failing, changes) => {
    const figures = { web: { oomKills: 3 }, ...(code !== 'NoAggressor' && { hungry: { memory: 3 * GI } }) };
    const result = pass({ badService, pods: [failing, { ...hungry, ...changes }], figures });
    expect([movesOf(result), codeOf(result, 'web')]).toEqual([[], code]);
  });

  test('one at a time of a node, and none for what was counted before it went', () => {
    const failing = ended(web, 5, 'Error');
    const figures = { hungry: { memory: 3 * GI }, busy: { memory: 2 * GI } };
    const first = pass({ badService, pods: [failing, hungry, busy], figures });
    expect(movesOf(first)).toEqual(['hungry a>b']);
    const after = (minutes: number, restarts: number) =>
      pass({
        badService,
        figures,
        memory: first.memory,
        now: NOON + minutes * 60_000,
        pods: [ended(web, restarts, 'Error'), busy],
      });
    expect(movesOf(after(30, 9))).toEqual([]);
    expect([movesOf(after(9, 10)), codeOf(after(9, 10), 'web')]).toEqual([[], 'NodeSettles']);
    expect(movesOf(after(30, 10))).toEqual(['busy a>b']);
  });

  const resource = fc.constantFrom<StalledResource>('cpu', 'memory', 'io');
  const drawn = fc.record({
    requests: fc.array(fc.record({ cpu: fc.integer({ min: 0, max: 3 }), memory: fc.integer({ min: 0, max: 3 }) }), {
      minLength: 1,
      maxLength: 6,
    }),
    used: fc.array(
      fc.record({ cpu: fc.integer({ min: 0, max: 4_000 }), memory: fc.integer({ min: 0, max: 4 * GI }) }),
      {
        maxLength: 6,
      },
    ),
    waitsFor: resource,
  });

  test('whoever keeps to its request never moves for another pod, and at most one pod of a node moves', () => {
    fc.assert(
      fc.property(drawn, ({ requests, used: amounts, waitsFor }) => {
        const pods = requests.map(({ cpu, memory }, n) =>
          onA(`p${n}`, { requests: { cpu: `${cpu}`, memory: `${memory}Gi` } }),
        );
        const figures = Object.fromEntries(amounts.map((each, n) => [`p${n}`, each]));
        const suffers = { ...figures['p0'], waiting: { [waitsFor]: 90 } };
        const { moves } = pass({ badService, pods, figures: { ...figures, p0: suffers } });
        expect(moves.length).toBeLessThanOrEqual(1);
        for (const { pod } of moves) {
          const at = Number(pod.placed.pod.name.slice(1));
          const over = {
            cpu: (amounts[at]?.cpu ?? 0) - (requests[at]?.cpu ?? 0) * 1_000,
            memory: (amounts[at]?.memory ?? 0) - (requests[at]?.memory ?? 0) * GI,
            io: 0,
          };
          expect(over[waitsFor]).toBeGreaterThan(0);
        }
      }),
      { seed: 29, numRuns: 300 },
    );
  });
});
