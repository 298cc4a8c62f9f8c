import { afterAll, beforeAll, expect } from 'vitest';
import { at, type Harness, pod, uniqueName } from '#test/contract/harness.ts';
import { asUser } from '#test/cluster/admission/support/as-user.ts';
import type { ClusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import { eventually } from '#test/build/waiting.ts';

/** A kind of pod, and what becomes of it: class, number, preemption policy and scheduler, or the words of its refusal. */
export interface ListedPod {
  readonly what: string;
  readonly namespace: string;
  readonly spec: object;
  readonly expected: unknown;
}

interface ListedPods {
  /** That the API server gives and judges by itself in mode Both; once the hooks have run. */
  resolved(): readonly ListedPod[];
  /** That it asks the webhook about, wherever there is one. */
  asked(): readonly ListedPod[];
  /** What the API server answers to a dry run of a controller, whose pods no webhook warns of. */
  create(listed: ListedPod): Promise<unknown>;
}

const PREEMPTS = 'PreemptLowerPriority';
const CONTROLLER = 'system:serviceaccount:kube-system:replicaset-controller';
const TEAMS = ['defaulted', 'listed', 'gentle', 'free'] as const;
type Team = (typeof TEAMS)[number];

/** Registers hooks of the present `describe` that make classes, policies, and a namespace for each of them. */
export function listedPods(api: Harness, objects: ClusterObjects): ListedPods {
  const prefix = uniqueName('creates');
  const classes = { high: '', replaced: '', low: '', ofGentle: '', plain: '', highNever: '', lowNever: '' };
  const policies = { defaulted: '', listed: '', gentle: '' };
  const namespaceOf = (team: Team): string => `${prefix}-${team}`;

  beforeAll(async () => {
    classes.high = await objects.priorityClass('high', 1_000_000);
    classes.replaced = await objects.priorityClass('replaced', 500_000);
    classes.ofGentle = await objects.priorityClass('of-gentle', 1);
    classes.low = await objects.priorityClass('low', -1_000);
    classes.plain = await objects.priorityClass('plain', 5);
    classes.highNever = await objects.priorityClass('high-never', 999, { preemptionPolicy: 'Never' });
    classes.lowNever = await objects.priorityClass('low-never', -7, { preemptionPolicy: 'Never' });
    for (const team of TEAMS) await makeNamespace(api, namespaceOf(team));
    policies.defaulted = await policy('defaulted', { defaultPriorityClassName: classes.low, maxPriority: 1_000 });
    policies.listed = await policy('listed', { allowedPriorityClassNames: [classes.low] });
    policies.gentle = await policy('gentle', {
      preemption: 'Never',
      defaultPriorityClassName: classes.ofGentle,
      substitutePriorityClassNames: { [classes.replaced]: classes.highNever, [classes.ofGentle]: classes.lowNever },
      schedulerName: 'second',
    });
  }, 90_000);
  afterAll(async () => {
    for (const team of TEAMS) await api.remove(`/api/v1/namespaces/${namespaceOf(team)}`);
  });

  function policy(team: Team, spec: object): Promise<string> {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespaceOf(team) } };
    return objects.policy(team, { namespaceSelector, ...spec });
  }

  type Row = readonly [what: string, team: Team, spec: object, expected: unknown];
  const named = (priorityClassName: string, more: object = {}): object => ({ priorityClassName, ...more });

  function resolved(): readonly ListedPod[] {
    const { high, replaced, low, plain, highNever, lowNever } = classes;
    const isDefault = { schedulerName: 'default-scheduler' };
    const rows: readonly Row[] = [
      ['the default', 'defaulted', {}, [low, -1_000, PREEMPTS, 'none']],
      ['the default, named', 'defaulted', named(low), [low, -1_000, PREEMPTS, 'none']],
      ['an allowed class', 'defaulted', named(plain), [plain, 5, PREEMPTS, 'none']],
      ['above the ceiling', 'defaulted', named(high), refused(policies.defaulted, 'allows a priority of at most 1000')],
      ['a number alone', 'defaulted', { priority: 5 }, /integer value of priority \(5\) must not be provided/],
      [
        'a false number',
        'defaulted',
        named(low, { priority: 5 }),
        /integer value of priority \(5\) must not be provided/,
      ],
      ['a class that is not there', 'defaulted', named('missing'), /no PriorityClass with name missing/],
      ['of the list', 'listed', named(low), [low, -1_000, PREEMPTS, 'none']],
      [
        'not of the list',
        'listed',
        named(plain),
        refused(policies.listed, `does not allow priority class \`${plain}\``),
      ],
      ['the substitute', 'gentle', named(replaced), [highNever, 999, 'Never', 'none']],
      ['the substitute of the default', 'gentle', {}, [lowNever, -7, 'Never', 'none']],
      ['no substitute', 'gentle', named(plain), refused(policies.gentle, 'forbids preemption here')],
      ['the scheduler', 'gentle', isDefault, [lowNever, -7, 'Never', 'second']],
      ['the scheduler alone', 'gentle', named(highNever, isDefault), [highNever, 999, 'Never', 'second']],
      ['no policy', 'free', named(high), [high, 1_000_000, PREEMPTS, 'none']],
    ];
    return rows.map(listed);
  }

  function asked(): readonly ListedPod[] {
    const { replaced } = classes;
    const rows: readonly Row[] = [
      ['no class, none listed', 'listed', {}, refused(policies.listed, 'does not allow pods without a priority class')],
      ['no policy, no class', 'free', {}, ['', 0, PREEMPTS, 'none']],
      ['replaced elsewhere', 'free', named(replaced), [replaced, 500_000, PREEMPTS, 'none']],
      [
        'replaced elsewhere, above the ceiling',
        'defaulted',
        named(replaced),
        refused(policies.defaulted, 'allows a p'),
      ],
    ];
    return rows.map(listed);
  }

  function listed([what, team, spec, expected]: Row): ListedPod {
    const words: unknown = expected instanceof RegExp ? expect.stringMatching(expected) : expected;
    return { what, namespace: namespaceOf(team), spec, expected: words };
  }

  async function create({ namespace, spec }: ListedPod): Promise<unknown> {
    const wanted = pod(uniqueName('pod'), spec);
    const send = asUser(api.target.connection, CONTROLLER);
    const { status, body } = await send('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, wanted);
    if (status !== 201) return at(body, 'message');
    const fields = ['priorityClassName', 'priority', 'preemptionPolicy', 'schedulerName'];
    return fields.map((field) => at(body, `spec.${field}`) ?? '');
  }

  return { resolved, asked, create };
}

function refused(policy: string, words: string): unknown {
  return expect.stringContaining(`policy \`${policy}\` ${words}`);
}

async function makeNamespace(api: Harness, name: string): Promise<void> {
  await api.post('/api/v1/namespaces', { metadata: { name } });
  await eventually(async () =>
    expect((await api.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)).status).toBe(200),
  );
}
