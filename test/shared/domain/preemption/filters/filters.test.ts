import { describe, expect, test } from 'vitest';
import { prefilter } from '#shared/domain/preemption/trial/prefilter-state.ts';
import type { Taint } from '#shared/domain/snapshot/node.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type {
  ContainerPort,
  NodeSelectorTerm,
  Requirement,
  Toleration,
  TopologySpreadConstraint,
} from '#shared/domain/pod/pod.ts';
import { refusalOn } from '#shared/domain/preemption/trial/fits-node.ts';
import {
  buildNode,
  buildPod,
  buildSpread,
  buildTerm,
  mapOf,
  selectorOf,
  type NodeFields,
  type PodFields,
} from '#test/build/cluster.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

interface Situation {
  readonly nodes?: readonly NodeFields[];
  readonly pods?: readonly PodFields[];
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Why a pod does not fit on the first node, which is `n0` unless said otherwise. */
function refusal(pod: Partial<PodFields>, { nodes = [{ name: 'n0' }], pods = [], namespaces = {} }: Situation = {}) {
  const snapshot = createSnapshot({
    nodes: nodes.map(buildNode),
    pods: pods.map(buildPod),
    namespaces: Object.entries(namespaces).map(([name, labels]) => ({ name, labels: mapOf(labels) })),
  });
  const [entry] = snapshot.nodes.values();
  if (entry === undefined) throw new Error('the situation has no node');
  return refusalOn(prefilter(snapshot, buildPod({ name: 'incoming', ...pod })), entry);
}

function refused(filter: string, isResolvable: boolean, ...reasons: string[]) {
  return { filter, isResolvable, reasons };
}

describe('NodeUnschedulable and NodeName', () => {
  const cordoned = { nodes: [{ name: 'n0', isUnschedulable: true }] };
  const everything: Toleration = { key: '', operator: 'Exists', value: '', effect: '' };

  test('a cordoned node takes no pod', () => {
    expect(refusal({}, cordoned)).toEqual(refused('NodeUnschedulable', false, 'node(s) were unschedulable'));
  });

  test('unless the pod tolerates that', () => {
    expect(refusal({ scheduling: { tolerations: [everything] } }, cordoned)).toBeUndefined();
  });

  test('a pod that names another node fits nowhere else', () => {
    const reason = "node(s) didn't match the requested node name";
    expect(refusal({ node: 'n7' })).toEqual(refused('NodeName', false, reason));
    expect(refusal({ node: 'n0' })).toBeUndefined();
  });
});

describe('TaintToleration', () => {
  const taint = (effect: string): Taint => ({ key: 'dedicated', value: 'a', effect });
  const toleration = (fields: Partial<Toleration>): Toleration => ({
    key: 'dedicated',
    operator: 'Equal',
    value: 'a',
    effect: 'NoSchedule',
    ...fields,
  });

  test.each<[string, string, readonly Toleration[], boolean]>([
    ['nothing tolerates it', 'NoSchedule', [], false],
    ['NoExecute keeps pods away too', 'NoExecute', [], false],
    ['PreferNoSchedule does not', 'PreferNoSchedule', [], true],
    ['the same key, value and effect', 'NoSchedule', [toleration({})], true],
    ['no operator means Equal', 'NoSchedule', [toleration({ operator: '' })], true],
    ['another value', 'NoSchedule', [toleration({ value: 'b' })], false],
    ['another key', 'NoSchedule', [toleration({ key: 'spot' })], false],
    ['another effect', 'NoSchedule', [toleration({ effect: 'NoExecute' })], false],
    ['no effect means every effect', 'NoExecute', [toleration({ effect: '' })], true],
    ['Exists minds no value', 'NoSchedule', [toleration({ operator: 'Exists', value: '' })], true],
    ['comparison operators are off', 'NoSchedule', [toleration({ operator: 'Gt' })], false],
    ['one of several is enough', 'NoSchedule', [toleration({ value: 'b' }), toleration({})], true],
  ])('%s', (_, effect, tolerations, fits) => {
    const found = refusal({ scheduling: { tolerations } }, { nodes: [{ name: 'n0', taints: [taint(effect)] }] });
    const expected = refused('TaintToleration', false, 'node(s) had untolerated taint(s)');
    expect(found).toEqual(fits ? undefined : expected);
  });
});

describe('NodeAffinity', () => {
  const labels = { disk: 'ssd', gen: '3' };
  const expression = (key: string, operator: string, ...values: string[]): Requirement => ({ key, operator, values });
  const term = (...matchExpressions: Requirement[]): NodeSelectorTerm => ({ matchExpressions, matchFields: [] });
  const named = (...matchFields: Requirement[]): NodeSelectorTerm => ({ matchExpressions: [], matchFields });

  test.each<[string, readonly NodeSelectorTerm[], boolean]>([
    ['one requirement', [term(expression('disk', 'In', 'ssd'))], true],
    ['all requirements of a term', [term(expression('disk', 'In', 'ssd'), expression('gen', 'Gt', '3'))], false],
    ['one of the terms', [term(expression('disk', 'In', 'hdd')), term(expression('gen', 'Lt', '4'))], true],
    ['no term matches nothing', [], false],
    ['an empty term matches nothing', [term()], false],
    ['a term that the API server would refuse matches nothing', [term(expression('disk', 'In'))], false],
    ['the name of the node', [named(expression('metadata.name', 'In', 'n0'))], true],
    ['the name of another node', [named(expression('metadata.name', 'NotIn', 'n0'))], false],
    ['two names are no valid field', [named(expression('metadata.name', 'NotIn', 'n7', 'n8'))], false],
    ['fields know In and NotIn only', [named(expression('metadata.name', 'Exists', 'n0'))], false],
    ['another field reads as empty', [named(expression('metadata.uid', 'NotIn', 'u'))], true],
  ])('%s', (_, terms, fits) => {
    const found = refusal({ scheduling: { nodeAffinity: { terms } } }, { nodes: [{ name: 'n0', labels }] });
    const expected = refused('NodeAffinity', false, "node(s) didn't match Pod's node affinity/selector");
    expect(found).toEqual(fits ? undefined : expected);
  });

  test('the node selector must match as well', () => {
    const nodes = [{ name: 'n0', labels }];
    expect(refusal({ scheduling: { nodeSelector: mapOf({ disk: 'ssd' }) } }, { nodes })).toBeUndefined();
    expect(refusal({ scheduling: { nodeSelector: mapOf({ disk: 'hdd' }) } }, { nodes })?.filter).toBe('NodeAffinity');
  });
});

describe('NodePorts', () => {
  const port = (fields: Partial<ContainerPort>): ContainerPort => ({
    hostPort: 8080,
    hostIP: '',
    protocol: '',
    ...fields,
  });
  const holding = (name: string, ports: readonly ContainerPort[], restartPolicy?: string): PodFields => {
    const resources = { requests: undefined, limits: undefined };
    const container = { name: 'c', resources, restartPolicy, ports };
    const spec = restartPolicy === undefined ? { containers: [container] } : { initContainers: [container] };
    return { name, spec: { nodeName: name === 'incoming' ? undefined : 'n0', ...spec } };
  };

  test.each([
    ['the same port', port({}), port({}), false],
    ['another port', port({}), port({ hostPort: 9090 }), true],
    ['another protocol', port({}), port({ protocol: 'UDP' }), true],
    ['TCP is the default', port({}), port({ protocol: 'TCP' }), false],
    ['every address against one', port({}), port({ hostIP: '10.0.0.1' }), false],
    ['one address against every', port({ hostIP: '10.0.0.1' }), port({ hostIP: '0.0.0.0' }), false],
    ['two addresses', port({ hostIP: '10.0.0.1' }), port({ hostIP: '10.0.0.2' }), true],
    ['port 0 is no host port', port({ hostPort: 0 }), port({ hostPort: 0 }), true],
  ])('%s', (_, wanted, taken, fits) => {
    const found = refusal(holding('incoming', [wanted]), { pods: [holding('p', [taken])] });
    const reason = "node(s) didn't have free ports for the requested pod ports";
    expect(found).toEqual(fits ? undefined : refused('NodePorts', true, reason));
  });

  test('sidecars hold their ports, other init containers do not', () => {
    const wanted = holding('incoming', [port({})]);
    expect(refusal(wanted, { pods: [holding('p', [port({})], 'Always')] })?.filter).toBe('NodePorts');
    expect(refusal(wanted, { pods: [holding('p', [port({})], 'Never')] })).toBeUndefined();
  });
});

describe('NodeResourcesFit', () => {
  const nodes = [{ name: 'n0', allocatable: { cpu: '2', memory: '4Gi', pods: '2', 'example.com/gpu': '1' } }];
  const pods = [{ name: 'p', node: 'n0', requests: { cpu: '1500m', 'example.com/gpu': '1' } }];

  test.each<[string, Readonly<Record<string, string>>, readonly string[], boolean]>([
    ['what is left is enough', { cpu: '500m', memory: '4Gi' }, [], true],
    ['each shortage is named', { cpu: '501m', 'example.com/gpu': '1' }, ['cpu', 'example.com/gpu'], true],
    ['more than the whole node has cannot be helped', { cpu: '501m', memory: '5Gi' }, ['cpu', 'memory'], false],
    ['a resource that the node lacks cannot be helped', { 'example.com/fpga': '1' }, ['example.com/fpga'], false],
    ['0 of a lacking resource is enough', { 'example.com/fpga': '0' }, [], true],
    ['a fraction of a unit counts as a whole one', { 'example.com/gpu': '1m' }, ['example.com/gpu'], true],
    ['a name that the scheduler does not count', { plain: '5', 'requests.example.com/gpu': '5' }, [], true],
    [
      'hugepages and volumes count',
      { 'hugepages-2Mi': '1', 'attachable-volumes-x': '1' },
      ['hugepages-2Mi', 'attachable-volumes-x'],
      false,
    ],
    ['prefixed native names count', { 'node.kubernetes.io/x': '1' }, ['node.kubernetes.io/x'], false],
    ['beyond 2^53 amounts stay exact', { memory: '9007199254740993' }, ['memory'], false],
  ])('%s', (_, requests, short, isResolvable) => {
    const reasons = short.map((name) => `Insufficient ${name}`);
    const expected = short.length === 0 ? undefined : refused('NodeResourcesFit', isResolvable, ...reasons);
    expect(refusal({ requests }, { nodes, pods })).toEqual(expected);
  });

  test('amounts beyond 2^53 are compared exactly', () => {
    const huge = [{ name: 'n0', allocatable: { memory: '9007199254740994', pods: '2' } }];
    const small = [{ name: 'p', node: 'n0', requests: { memory: '1' } }];
    expect(refusal({ requests: { memory: '9007199254740993' } }, { nodes: huge, pods: small })).toBeUndefined();
    expect(refusal({ requests: { memory: '9007199254740994' } }, { nodes: huge, pods: small })?.isResolvable).toBe(
      true,
    );
  });

  test('pods without requests take slots', () => {
    const full = [{ name: 'q', node: 'n0' }, ...pods];
    expect(refusal({}, { nodes, pods: full })).toEqual(refused('NodeResourcesFit', true, 'Too many pods'));
  });

  test('nominated pods of equal or higher priority count, lower ones do not', () => {
    const waiting = { name: 'w', nominatedTo: 'n0', requests: { cpu: '500m' } };
    const situation = (priority: number) => ({ nodes, pods: [...pods, { ...waiting, priority }] });
    expect(refusal({ priority: 5, requests: { cpu: '500m' } }, situation(5))?.reasons).toContain('Insufficient cpu');
    expect(refusal({ priority: 5, requests: { cpu: '500m' } }, situation(4))).toBeUndefined();
  });
});

describe('PodTopologySpread', () => {
  const nodes = [
    { name: 'n0', labels: { [ZONE]: 'x' } },
    { name: 'n1', labels: { [ZONE]: 'y' } },
  ];
  const constraint = (fields?: Partial<TopologySpreadConstraint>) => buildSpread(ZONE, fields);
  const member = (name: string, fields: Partial<PodFields> = {}): PodFields => ({
    name,
    node: 'n0',
    labels: { app: 'a', tier: 'db' },
    ...fields,
  });
  const incoming = (fields: Partial<TopologySpreadConstraint>): Partial<PodFields> => ({
    labels: { app: 'a', tier: 'web' },
    scheduling: { topologySpread: [constraint(fields)] },
  });
  const skewed = refused('PodTopologySpread', true, "node(s) didn't match pod topology spread constraints");

  test.each<[string, Partial<TopologySpreadConstraint>, readonly PodFields[], boolean]>([
    ['even so far', {}, [member('p'), member('q', { node: 'n1' })], true],
    ['one more than elsewhere', {}, [member('p')], false],
    ['a larger skew is allowed', { maxSkew: 2 }, [member('p')], true],
    ['a soft constraint refuses no pod', { whenUnsatisfiable: 'ScheduleAnyway' }, [member('p')], true],
    ['terminating pods do not count', {}, [member('p', { deletion: { at: 0, gracePeriodSeconds: 0 } })], true],
    ['pods of other namespaces do not count', {}, [member('p', { namespace: 'prod' })], true],
    ['fewer domains than wanted: the least is 0', { minDomains: 3 }, [member('p'), member('q', { node: 'n1' })], false],
    ['own values of the match label keys must be equal', { matchLabelKeys: ['tier'] }, [member('p')], true],
    ['an absent selector matches no pod', { labelSelector: undefined }, [member('p')], true],
    ['an empty selector counts no pod but the incoming one', { labelSelector: selectorOf({}) }, [member('p')], true],
  ])('%s', (_, fields, pods, fits) => {
    expect(refusal(incoming(fields), { nodes, pods })).toEqual(fits ? undefined : skewed);
  });

  test('a node without the label cannot be helped', () => {
    const reason = "node(s) didn't match pod topology spread constraints (missing required label)";
    expect(refusal(incoming({}))).toEqual(refused('PodTopologySpread', false, reason));
  });

  test('nodes that the pod cannot use are counted only where the policies say so', () => {
    const other = {
      name: 'n1',
      labels: { [ZONE]: 'y', disk: 'hdd' },
      taints: [{ key: 'k', value: '', effect: 'NoSchedule' }],
    };
    const situation = { nodes: [{ name: 'n0', labels: { [ZONE]: 'x', disk: 'ssd' } }, other], pods: [member('p')] };
    const spread = (fields: Partial<TopologySpreadConstraint>): Partial<PodFields> => ({
      ...incoming(fields),
      scheduling: { topologySpread: [constraint(fields)], nodeSelector: mapOf({ disk: 'ssd' }) },
    });
    expect(refusal(spread({}), situation)).toBeUndefined();
    expect(refusal(spread({ nodeAffinityPolicy: 'Ignore' }), situation)).toEqual(skewed);
    expect(refusal(spread({ nodeAffinityPolicy: 'Ignore', nodeTaintsPolicy: 'Honor' }), situation)).toBeUndefined();
  });
});

describe('InterPodAffinity', () => {
  const nodes = [
    { name: 'n0', labels: { [ZONE]: 'x' } },
    { name: 'n1', labels: { [ZONE]: 'x' } },
    { name: 'n2', labels: { [ZONE]: 'y' } },
  ];
  const near = (node: string, fields: Partial<PodFields> = {}) => [
    { name: 'p', node, labels: { app: 'a' }, ...fields },
  ];
  const lonely = refused('InterPodAffinity', false, "node(s) didn't match pod affinity rules");
  const avoiding = refused('InterPodAffinity', true, "node(s) didn't match pod anti-affinity rules");
  const avoided = refused('InterPodAffinity', true, "node(s) didn't satisfy existing pods anti-affinity rules");
  const teams = { prod: { team: 'x' }, default: { team: 'y' } };

  test.each<[string, Partial<PodFields>, readonly PodFields[], object | undefined]>([
    [
      'wanted company in the zone',
      { scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      near('n1'),
      undefined,
    ],
    ['wanted company elsewhere', { scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE)] } }, near('n2'), lonely],
    [
      'every term must be met by the same pods',
      { scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE), buildTerm({ app: 'b' }, ZONE)] } },
      near('n1'),
      lonely,
    ],
    [
      'the first of a group that wants itself',
      { labels: { app: 'a' }, scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      [],
      undefined,
    ],
    [
      'a node without the label',
      { labels: { app: 'a' }, scheduling: { podAffinity: [buildTerm({ app: 'a' }, 'rack')] } },
      [],
      lonely,
    ],
    [
      'unwanted company on the node',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, HOST)] } },
      near('n0'),
      avoiding,
    ],
    [
      'unwanted company in the zone',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      near('n1'),
      avoiding,
    ],
    [
      'unwanted company in another zone',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      near('n2'),
      undefined,
    ],
    [
      'anti-affinity over a label that the node lacks',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, 'rack')] } },
      near('n0'),
      undefined,
    ],
    [
      'a pod there has anti-affinity',
      { labels: { app: 'z' } },
      near('n1', { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' }, ZONE)] } }),
      avoided,
    ],
    [
      'a pod elsewhere has anti-affinity',
      { labels: { app: 'z' } },
      near('n2', { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' }, ZONE)] } }),
      undefined,
    ],
    [
      'a pod on an unknown node has anti-affinity',
      { labels: { app: 'z' } },
      near('n9', { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' }, ZONE)] } }),
      undefined,
    ],
  ])('%s', (_, pod, pods, expected) => {
    expect(refusal(pod, { nodes, pods })).toEqual(expected);
  });

  test.each<[string, Partial<ReturnType<typeof buildTerm>>, boolean]>([
    ['its own namespace by default', {}, false],
    ['namespaces by name', { namespaces: ['prod'] }, true],
    ['namespaces by label', { namespaceSelector: selectorOf({ team: 'x' }) }, true],
    ['other namespaces by label', { namespaceSelector: selectorOf({ team: 'y' }) }, false],
    ['every namespace', { namespaceSelector: selectorOf({}) }, true],
  ])('a term means %s', (_, fields, reachesProd) => {
    const term = { ...buildTerm({ app: 'a' }, HOST), ...fields };
    const there = near('n0', { namespace: 'prod' });
    const own = refusal({ scheduling: { podAntiAffinity: [term] } }, { nodes, pods: there, namespaces: teams });
    expect(own).toEqual(reachesProd ? avoiding : undefined);
    const others = near('n0', { scheduling: { podAntiAffinity: [term] } });
    const theirs = refusal({ namespace: 'prod', labels: { app: 'a' } }, { nodes, pods: others, namespaces: teams });
    expect(theirs).toEqual(reachesProd ? avoided : undefined);
  });

  test('a namespace that is not known has no labels', () => {
    const term = { ...buildTerm({ app: 'a' }, HOST), namespaceSelector: selectorOf({ team: 'x' }) };
    const others = near('n0', { scheduling: { podAntiAffinity: [term] } });
    expect(refusal({ namespace: 'prod', labels: { app: 'a' } }, { nodes, pods: others })).toBeUndefined();
  });
});
