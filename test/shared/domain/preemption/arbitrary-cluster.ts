import fc from 'fast-check';
import type { ClusterObjects } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Pod, SchedulingRules } from '#shared/domain/pod/pod.ts';
import {
  buildBudget,
  buildNode,
  buildPod,
  buildSpread,
  buildTerm,
  storedPod,
  type PodFields,
} from '#test/build/cluster.ts';

/** A drawn cluster and a pod that wants in. */
export interface Scene extends Required<Omit<ClusterObjects, 'namespaces'>> {
  readonly pod: Pod;
}

const zone = 'topology.kubernetes.io/zone';
const app = fc.constantFrom('a', 'b', 'c');
const priority = fc.constantFrom(-10, 0, 0, 10, 100);

const requests = fc.record({
  cpu: fc.constantFrom('0', '500m', '1', '1500m', '2'),
  memory: fc.constantFrom('0', '512Mi', '1Gi', '1500M'),
});

const large = fc.record({
  cpu: fc.constantFrom('0', '1500m', '2', '3'),
  memory: fc.constantFrom('0', '1Gi', '2Gi'),
});

const node = fc.record({
  cpu: fc.constantFrom('2', '4', '3920m'),
  memory: fc.constantFrom('2Gi', '4Gi'),
  slots: fc.constantFrom('3', '110'),
  zone: fc.constantFrom('x', 'y'),
});

const member = fc.record({
  on: fc.nat(3),
  priority,
  app,
  requests,
  isLimited: fc.boolean(),
  started: fc.nat(5),
  isNominated: fc.integer({ min: 0, max: 14 }).map((drawn) => drawn === 7),
});

const budget = fc.record({ app, allowed: fc.constantFrom(0, 1, 2) });

/** Rules under which more pods on a node never help the incoming one. */
const company = fc.constantFrom<Partial<SchedulingRules>>(
  {},
  { podAntiAffinity: [buildTerm({ app: 'a' })] },
  { podAntiAffinity: [buildTerm({ app: 'b' }, zone)] },
  { topologySpread: [buildSpread(zone)] },
);

/** Scenes in which nothing but resources matters. */
export const resourceScenes: fc.Arbitrary<Scene> = scenes(fc.constant({}), fc.constant([]));

/** Scenes with anti-affinity, spread and host ports too. */
export const crowdedScenes: fc.Arbitrary<Scene> = scenes(company, fc.constantFrom<readonly number[]>([], [], [8080]));

function scenes(rules: fc.Arbitrary<Partial<SchedulingRules>>, ports: fc.Arbitrary<readonly number[]>) {
  return fc
    .record({
      nodes: fc.array(node, { minLength: 1, maxLength: 3 }),
      members: fc.array(fc.tuple(member, ports, rules), { minLength: 3, maxLength: 16 }),
      budgets: fc.array(budget, { maxLength: 3 }),
      incoming: fc.record({
        priority: fc.constantFrom(0, 10, 100, 100),
        requests: large,
        isLimited: fc.boolean(),
        app,
        rules,
        ports,
      }),
    })
    .map(({ nodes, members, budgets, incoming }) => ({
      nodes: nodes.map((each, index) =>
        buildNode({
          name: `n${index}`,
          labels: { [zone]: each.zone },
          allocatable: { cpu: each.cpu, memory: each.memory, pods: each.slots },
        }),
      ),
      pods: members.map(([each, hostPorts, scheduling], index) =>
        drawnPod(each, {
          name: `p${index}`,
          ...(each.isNominated
            ? { nominatedTo: `n${each.on % nodes.length}` }
            : { node: `n${each.on % nodes.length}` }),
          startedAt: each.started,
          hostPorts,
          scheduling,
        }),
      ),
      budgets: budgets.map((each, index) => buildBudget(`b${index}`, { app: each.app }, each.allowed)),
      pod: drawnPod(incoming, {
        name: 'incoming',
        hostPorts: incoming.ports,
        scheduling: incoming.rules,
      }),
    }));
}

interface Drawn {
  readonly priority: number;
  readonly app: string;
  readonly requests: NonNullable<PodFields['requests']>;
  /** Limits equal to its requests, which make a pod that requests cpu and memory Guaranteed. */
  readonly isLimited: boolean;
}

function drawnPod({ priority, app, requests, isLimited }: Drawn, fields: PodFields): Pod {
  const limits = isLimited ? { limits: requests } : {};
  return storedPod(buildPod({ priority, labels: { app }, requests, ...limits, ...fields }));
}
