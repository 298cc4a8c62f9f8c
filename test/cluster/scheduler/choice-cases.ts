import { type Given, readSeed, type SeedPod } from '#test/shared/domain/preemption/seed-cluster.ts';

/** A cluster, a pod that wants to come, and what must come of it. */
export interface ChoiceCase {
  readonly given: Given & { readonly pending: SeedPod };
  /** Running pods in the order in which they started; without it none has a start. */
  readonly started?: readonly string[];
  /** Running pods whose disruption budget has nothing left. */
  readonly budgeted?: readonly string[];
  /** Running pods that use more than they request, as the NodePressure of `node-1` says. */
  readonly overRequest?: readonly string[];
  /** A node whose free room is set aside for a pod that another scheduler nominated. */
  readonly setAside?: string;
  /** Where the pod comes to; `undefined` where it must wait. */
  readonly node?: string;
  /** Running pods that go, sorted. */
  readonly gone: readonly string[];
}

const MEMORY = { memoryCapacity: '8Gi' };

function running(name: string, priority: number, request: number, more: Partial<SeedPod> = {}): SeedPod {
  return { name, node: 'node-1', priority, request, ...more };
}

function pending(request: number, more: Partial<SeedPod> = {}): SeedPod {
  return { name: 'p', priority: 10, request, ...more };
}

/** One node of ten units for each list. */
function on(lists: readonly (readonly SeedPod[])[], incoming: SeedPod): ChoiceCase['given'] {
  const nodes = lists.map((_, index) => ({ name: `node-${index + 1}`, capacity: 10, ...MEMORY }));
  const pods = lists.flatMap((list, index) => list.map((each) => ({ ...each, node: `node-${index + 1}` })));
  return { nodes, running: pods, pending: incoming };
}

/** A worked example of one design source, with a protected pod in addition that makes the node as much larger. */
function seed(id: string, beside?: SeedPod): ChoiceCase['given'] {
  const { given } = readSeed(id);
  const known = { ...given, pending: given.pending as SeedPod };
  if (beside === undefined) return known;
  const nodes = given.nodes.map((node) => ({
    ...node,
    ...(node.capacity !== undefined && { capacity: node.capacity + (beside.request ?? 0) }),
    ...(node.memoryCapacity !== undefined && { memoryCapacity: '10G' }),
  }));
  return { ...known, nodes, running: [...given.running, beside] };
}

/** The class of this priority opted out of preemption; kube-scheduler would take its pods first. */
export const PROTECTED = -1;

function spared(request: number, more: Partial<SeedPod> = {}): SeedPod {
  return running('spared', PROTECTED, request, more);
}

const EQUALS = [
  running('best-effort', 1, 0, { qos: 'BestEffort' }),
  running('burstable', 1, 1, { qos: 'Burstable' }),
  running('guaranteed', 1, 1, { qos: 'Guaranteed' }),
];
const TWO = [running('burstable', 1, 5, { qos: 'Burstable' }), running('guaranteed', 1, 5, { qos: 'Guaranteed' })];
const PORTIONS = ['a', 'b', 'c', 'd', 'e'].map((name) => running(name, 1, 2));

/** Beside each list a protected pod, which kube-scheduler alone would preempt instead, as it makes the same room. */
function besideSpared(lists: readonly (readonly SeedPod[])[], incoming: SeedPod): ChoiceCase['given'] {
  const withSpared = (list: readonly SeedPod[], index: number): readonly SeedPod[] => [
    ...list,
    { ...spared(incoming.request ?? 0), name: `spared-${index + 1}` },
  ];
  return on(lists.map(withSpared), incoming);
}

/** With the extender as it is by default. */
export const BY_DEFAULT: Readonly<Record<string, ChoiceCase>> = {
  'S0-2: no pod goes where all that may go are too few': {
    given: on([[running('low', 0, 2), spared(3), running('equal', 10, 5)]], pending(5)),
    gone: [],
  },
  'S0-5: a node that needs no victim is preferred': {
    // kube-scheduler alone would take the emptiest node, whose room is not to be had.
    given: on([[running('low', 0, 10)], [running('equal', 10, 9)], []], pending(1)),
    setAside: 'node-3',
    node: 'node-2',
    gone: [],
  },
  'S0-6: a node without a violated budget is preferred to lower victims': {
    given: besideSpared([[running('lowest', 1, 5)], [running('low', 9, 5)]], pending(5)),
    budgeted: ['lowest'],
    node: 'node-2',
    gone: ['low'],
  },
  'S0-6: then the lowest highest victim, even if there are more': {
    given: besideSpared([[running('a', 4, 2), running('b', 4, 3)], [running('high', 5, 5)]], pending(5)),
    node: 'node-1',
    gone: ['a', 'b'],
  },
  'S0-6: then the lowest sum of priorities': {
    given: besideSpared(
      [
        [running('a', 5, 2), running('b', 3, 3)],
        [running('c', 5, 2), running('d', 4, 3)],
      ],
      pending(5),
    ),
    node: 'node-1',
    gone: ['a', 'b'],
  },
  'S0-6: and of equal priorities the fewest victims': {
    given: besideSpared(
      [
        [running('a', 5, 2), running('b', 5, 2), running('c', 5, 1)],
        [running('d', 5, 3), running('e', 5, 2)],
      ],
      pending(5),
    ),
    node: 'node-2',
    gone: ['d', 'e'],
  },
  'S0-6: then the pod that started last': {
    given: besideSpared([[running('old', 1, 5)], [running('young', 1, 5)]], pending(5)),
    started: ['old', 'young'],
    node: 'node-2',
    gone: ['young'],
  },
  'S0-9: a covered pod goes where every choice breaks a budget': {
    given: besideSpared([[running('covered', 1, 5)]], pending(5)),
    budgeted: ['covered'],
    node: 'node-1',
    gone: ['covered'],
  },
  'S0-10: no pod goes that need not, even if lower ones stay': {
    given: seed('s0-10', spared(3)),
    node: 'node-1',
    gone: ['r2'],
  },
  'S0-12: a pod that requests nothing stays': {
    given: on([[running('nothing', 0, 0), running('low', 1, 5), spared(5)]], pending(5)),
    node: 'node-1',
    gone: ['low'],
  },
  'S0-14: what is free of each resource counts': {
    given: on(
      [
        [
          running('cpu', 1, 6, { memoryRequest: '512Mi' }),
          running('memory', 1, 1, { memoryRequest: '5Gi' }),
          spared(1, { memoryRequest: '2Gi' }),
        ],
      ],
      pending(1, { memoryRequest: '2Gi' }),
    ),
    started: ['memory', 'cpu'],
    node: 'node-1',
    gone: ['memory'],
  },
  'S0-31: a Burstable pod stays where a Guaranteed one of lower priority comes': {
    given: seed('s0-31', spared(6)),
    gone: [],
  },
  'S0-8: the QoS class changes nothing': {
    given: on([[...TWO.map((each) => ({ ...each, request: 3 })), spared(3)]], pending(4)),
    started: ['burstable', 'guaranteed'],
    node: 'node-1',
    gone: ['guaranteed'],
  },
  'S3-34: two low pods go rather than a higher one': {
    given: seed('s3-34', spared(0, { memoryRequest: '2G' })),
    node: 'node-1',
    gone: ['low-1', 'low-2'],
  },
};

/** With `budgets: Hard`, `tieBreak: qos` and `usageAware`. */
export const BY_OPTION: Readonly<Record<string, ChoiceCase>> = {
  'S0-8: of equal priorities Burstable goes before Guaranteed': {
    given: on([TWO], pending(5)),
    started: ['burstable', 'guaranteed'],
    node: 'node-1',
    gone: ['burstable'],
  },
  'S0-8: and BestEffort before both': {
    given: { ...on([EQUALS], pending(0)), nodes: [{ name: 'node-1', capacity: 10, ...MEMORY, pods: 3 }] },
    started: ['best-effort', 'burstable', 'guaranteed'],
    node: 'node-1',
    gone: ['best-effort'],
  },
  'S0-31: a Burstable pod stays also where the extender chooses': { given: seed('s0-31', spared(6)), gone: [] },
  'S0-9: a covered pod stays where every choice breaks a budget': {
    given: on([[running('covered', 1, 10)]], pending(5)),
    budgeted: ['covered'],
    gone: [],
  },
  'S0-11: what a victim uses beyond its request is no room': {
    given: on([PORTIONS], pending(4)),
    started: ['a', 'b', 'c', 'd', 'e'],
    overRequest: ['a'],
    node: 'node-1',
    gone: ['a', 'e'],
  },
};
