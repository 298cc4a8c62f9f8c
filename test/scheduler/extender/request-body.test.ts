import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { parseFields, PREEMPTING_POD, readRequestBody, SIZED_POD } from '#scheduler/extender/request-body.ts';

const MIB = 1024 * 1024;
const LARGE = 'x'.repeat(300_000);
/** What follows the pod. */
const others = {
  NodeNameToVictims: null,
  NodeNameToMetaVictims: { n0: { Pods: [{ UID: 'v' }], NumPDBViolations: 0 } },
};
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true };
const metadata = { name: 'p', namespace: 'team', uid: 'u', ownerReferences: [OWNER] };
const TERM = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } };
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** All that a preemption depends on. */
const scheduled = {
  metadata: { ...metadata, labels: { app: 'web' } },
  spec: {
    priority: -5,
    priorityClassName: 'low',
    preemptionPolicy: 'PreemptLowerPriority',
    containers: [
      { ports: [{ hostPort: 80, protocol: 'TCP' }], resources: { requests: { cpu: '1', memory: '1Gi' } } },
      { resources: {} },
    ],
    initContainers: [{ restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } }],
    overhead: { cpu: '10m' },
    resources: { requests: { memory: '2Gi' } },
    hostNetwork: true,
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
    affinity: {
      nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name' }] }] } },
      podAntiAffinity: { [REQUIRED]: [TERM] },
    },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    volumes: [{ name: 'data', persistentVolumeClaim: {} }],
    resourceClaims: [{ name: 'gpu' }],
  },
  status: { nominatedNodeName: 'n1' },
};

/** The same with what makes a pod large, in front of and behind what is read. */
const padded = {
  metadata: { annotations: { note: LARGE, '}],"\\"Pod': '{["' }, ...scheduled.metadata, managedFields: [{ a: LARGE }] },
  spec: {
    hostAliases: [{ ip: LARGE, hostnames: ['{'] }],
    ...scheduled.spec,
    containers: scheduled.spec.containers.map((container) => ({ args: [LARGE, '"}]'], ...container, env: [LARGE] })),
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: LARGE } }],
  },
  status: { message: LARGE, ...scheduled.status },
};

function read(pod: unknown, shape = PREEMPTING_POD) {
  const body = finish(readRequestBody(Buffer.from(JSON.stringify({ Pod: pod, ...others })), shape));
  if (!body.ok) throw new Error(`${body.field}: ${body.message}`);
  return body.value;
}

describe('readRequestBody', () => {
  test('an ordinary pod is read as a whole', () => {
    expect(read(scheduled)).toMatchObject({ pod: scheduled, isPodCutShort: false });
  });

  test('of a large pod all is read that a preemption depends on, and nothing else', () => {
    expect(read(padded)).toMatchObject({ isPodCutShort: false });
    expect(decodePod(read(padded).pod)).toEqual(decodePod(scheduled));
  });

  test('of a large pod its size is read for set-aside room', () => {
    const container = { resources: scheduled.spec.containers[0]?.resources };
    const { priority, priorityClassName, preemptionPolicy, initContainers, overhead, resources } = scheduled.spec;
    const importance = { priority, priorityClassName, preemptionPolicy };
    const sizes = { containers: [container, { resources: {} }], initContainers, overhead, resources };
    const expected = { metadata, spec: { ...importance, ...sizes }, status: scheduled.status };
    expect(read(padded, SIZED_POD)).toEqual(expect.objectContaining({ pod: expected, isPodCutShort: false }));
  });

  test.each<[string, object]>([
    ['ports', { ...scheduled.spec, containers: [{ ports: Array.from({ length: 30_000 }, () => ({ hostPort: 1 })) }] }],
    ['labels', scheduled.spec],
    ['containers', { ...scheduled.spec, containers: Array.from({ length: 30_000 }, () => ({ resources: {} })) }],
  ])('of one with too much of it who it is and how important: %s', (what, spec) => {
    const labels = what === 'labels' ? { large: LARGE } : {};
    const { pod, isPodCutShort } = read({ ...padded, metadata: { labels, ...metadata }, spec });
    expect(isPodCutShort).toBe(true);
    expect(pod).toMatchObject({ metadata, spec: { priority: -5 }, status: scheduled.status });
    expect(JSON.stringify(pod).length).toBeLessThan(400_000);
  });

  test('only the controller counts among very many owners', () => {
    const ownerReferences = [...Array.from({ length: 20_000 }, () => ({ ...OWNER, controller: false })), OWNER];
    expect(read({ metadata: { ...metadata, ownerReferences } }).pod).toEqual({ metadata });
  });

  test.each<[string, (largest: string) => object]>([
    ['one text', (largest) => ({ metadata: { annotations: { a: largest } } })],
    ['quotation marks', (largest) => ({ spec: { containers: [{ args: [largest.replaceAll('x', '"')] }] } })],
    ['small values', (largest) => ({ spec: { containers: [{ args: Array.from(largest, () => 0) }] } })],
    [
      'small fields',
      (largest) => ({ spec: { containers: Array.from(largest.slice(0, MIB / 2), () => ({ name: '' })) } }),
    ],
  ])('reads a pod of %s in steps of at most 64 KiB', (_, podOf) => {
    const bytes = Buffer.from(JSON.stringify({ Pod: podOf('x'.repeat(2 * MIB)), ...others }));
    const steps = Array.from(readRequestBody(bytes, SIZED_POD)).length;
    // Once for its end, and once for what is in it.
    expect(steps).toBeGreaterThanOrEqual(Math.floor((2 * bytes.length) / (64 * 1024)) - 10);
  });

  test('any body has the fields that JSON.parse reads (seed 1)', () => {
    const body = fc.record({ Pod: fc.jsonValue(), NodeNames: fc.array(fc.string()) }, { requiredKeys: [] });
    fc.assert(
      fc.property(body, fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const found = finish(readRequestBody(Buffer.from(text), SIZED_POD));
        expect(found.ok && parseFields(found.value)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
      }),
      { seed: 1 },
    );
  });

  test.each([
    ['a list that ends as an object', `{"Pod":{"spec":{"containers":[{"args":["${LARGE}"]}}},"NodeNames":[]}`],
    ['a field without a name', `{"Pod":{"spec":{7,"containers":["${LARGE}"]}},"NodeNames":[]}`],
    ['a number that is none', `{"Pod":{"a":"${LARGE}","spec":{"priority":-}},"NodeNames":[]}`],
    ['no end', `{"Pod":{"a":"${LARGE}`],
  ])('%s in a large pod is no JSON', (_, text) => {
    const found = finish(readRequestBody(Buffer.from(text), SIZED_POD));
    expect(found.ok ? parseFields(found.value) : found).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^not valid JSON: /) as string,
    });
  });
});
