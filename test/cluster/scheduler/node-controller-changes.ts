import { PRESSURE_CONDITIONS, PRESSURE_TAINTS } from '#shared/kube/api-names.ts';

export const NODE = '/api/v1/nodes/node-0';
export const NODE_STATUS = `${NODE}/status`;
export const PRESSURE = '/apis/plimsoll.dev/v1alpha1/nodepressures/node-0';

/** One PATCH. */
export interface Change {
  readonly path: string;
  readonly body: object;
  readonly type?: 'merge' | 'strategic-merge' | 'json';
}

/** A taint of another controller that the node has before. */
export const FOREIGN_TAINT = {
  key: 'example.com/dedicated',
  value: 'team-a',
  effect: 'NoSchedule',
  timeAdded: '2026-01-01T00:00:00Z',
};

/** Adds conditions to the status of the node, or changes those of their types. */
export function statusConditions(...conditions: readonly object[]): Change {
  return { path: NODE_STATUS, type: 'strategic-merge', body: { status: { conditions } } };
}

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' };
const METADATA = {
  'adds a label': { labels: { 'example.com/zone': 'a' } },
  'adds an annotation': { annotations: { 'example.com/note': 'a' } },
  'adds a finalizer': { finalizers: ['example.com/hold'] },
  'adds an owner, by which the garbage collector would delete it': { ownerReferences: [OWNER] },
};

function ofMetadata(path: string, refusal: string): Readonly<Record<keyof typeof METADATA, Refused>> {
  const entries = Object.entries(METADATA).map(([name, metadata]) => [name, { path, refusal, body: { metadata } }]);
  return Object.fromEntries(entries) as Record<keyof typeof METADATA, Refused>;
}

type Refused = Change & { readonly refusal: string };

const ofSpec = (spec: object): Refused => ({
  path: NODE,
  body: { spec },
  refusal: 'the node controller may change only the taints in the spec of a node',
});
const addsTaint = (...taints: readonly object[]): Refused => ({
  path: NODE,
  body: { spec: { taints } },
  refusal:
    'the node controller may add only taints with its own keys (plimsoll.dev/…-pressure) and the effect NoSchedule',
});
const ofConditions = (condition: object): Refused => ({
  ...statusConditions(condition),
  refusal: 'the node controller may change only its own conditions (plimsoll.dev/…Contention)',
});
const ofStatus = (status: object): Refused => ({
  path: NODE_STATUS,
  body: { status },
  refusal: 'the node controller may change only the conditions and the spare room in the status of a node',
});
const ofAmounts = (status: object): Refused => ({
  path: NODE_STATUS,
  body: { status },
  refusal:
    'the node controller may change only plimsoll.dev/spare-memory and plimsoll.dev/spare-cpu of what a node has',
});
const NODE_METADATA = 'the node controller may not change the metadata of a node';
const PRESSURE_METADATA = 'plimsoll-controller may not change the metadata of a NodePressure';
const OWN_TAINT = PRESSURE_TAINTS.memory;

/** What a stolen token must not change, with the refusal. Each is valid for a user with all rights. */
export const FORBIDDEN_CHANGES = {
  nodes: {
    ...ofMetadata(NODE, NODE_METADATA),
    'removes a label': {
      path: NODE,
      body: { metadata: { labels: { 'kubernetes.io/os': null } } },
      refusal: NODE_METADATA,
    },
    'sets unschedulable': ofSpec({ unschedulable: true }),
    'sets the provider ID': ofSpec({ providerID: 'example://other' }),
    'sets the ranges of pod addresses': ofSpec({ podCIDR: '10.9.0.0/24', podCIDRs: ['10.9.0.0/24'] }),
    'adds its own taint with the effect NoExecute': addsTaint(FOREIGN_TAINT, { key: OWN_TAINT, effect: 'NoExecute' }),
    'adds its own taint with the effect PreferNoSchedule': addsTaint(FOREIGN_TAINT, {
      key: OWN_TAINT,
      effect: 'PreferNoSchedule',
    }),
    'adds a taint with another key': addsTaint(FOREIGN_TAINT, { key: 'plimsoll.dev/other', effect: 'NoSchedule' }),
    "adds Kubernetes' own taint of a lost node": addsTaint(FOREIGN_TAINT, {
      key: 'node.kubernetes.io/unreachable',
      effect: 'NoExecute',
    }),
    "turns another controller's taint into NoExecute": addsTaint({ ...FOREIGN_TAINT, effect: 'NoExecute' }),
    "removes another controller's taint": {
      path: NODE,
      body: { spec: { taints: [{ key: OWN_TAINT, effect: 'NoSchedule' }] } },
      refusal: 'the node controller may remove only taints with its own keys (plimsoll.dev/…-pressure)',
    },
  },
  status: {
    ...ofMetadata(NODE_STATUS, NODE_METADATA),
    "changes the kubelet's condition": ofConditions({ type: 'Ready', status: 'False' }),
    "removes the kubelet's condition": ofConditions({ $patch: 'delete', type: 'Ready' }),
    'adds a condition of another type': ofConditions({ type: 'plimsoll.dev/Other', status: 'True' }),
    "adds the kubelet's condition of the same family": ofConditions({
      type: PRESSURE_CONDITIONS.memory.replace('plimsoll.dev/', ''),
      status: 'True',
    }),
    'changes what pods may use': ofAmounts({ allocatable: { cpu: '1' } }),
    'adds a resource': ofAmounts({ capacity: { 'example.com/device': '1' } }),
    'adds a resource next to spare room': ofAmounts({
      capacity: { 'example.com/device': '1', 'plimsoll.dev/spare-memory': '1' },
    }),
    'adds a resource that is named like spare room': ofAmounts({ capacity: { 'plimsoll.dev/spare-disk': '1' } }),
    'removes memory': ofAmounts({ capacity: { memory: null } }),
    'removes the addresses': ofStatus({ addresses: null }),
    'adds volumes in use': ofStatus({ volumesInUse: ['example.com/volume'] }),
  },
  pressures: ofMetadata(PRESSURE, PRESSURE_METADATA),
} satisfies Readonly<Record<string, Readonly<Record<string, Refused>>>>;

/** A field that the definition of NodePressure has not, and the change that adds it. */
export const FUTURE_FIELD = {
  path: PRESSURE,
  body: { spec: { future: 'x' } },
  refusal: 'plimsoll-controller may change only spec.avoid of a NodePressure',
  definition: [
    {
      op: 'add',
      path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/future',
      value: { type: 'string' },
    },
  ],
};
