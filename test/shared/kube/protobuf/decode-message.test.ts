import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Field, fieldsOf } from '#sandbox/api-server/protobuf/decode-message.ts';
import { decodeSeenPod, peekPodMessage } from '#shared/kube/decode/decode-seen-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { decodeMessage, type WireMessage } from '#shared/kube/protobuf/decode-message.ts';
import { CHARGED_POD, SCHEDULED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { NODE_POD } from '#shared/kube/protobuf/node-pod.ts';
import { encodeMessage } from '#test/build/encode-message.ts';

const POD = 'io.k8s.api.core.v1.Pod';
const TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.Time';
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

const some = { requiredKeys: [] };
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
const amount = fc.constantFrom('250m', '1', '1Gi', '1.5', '9'.repeat(40), 'none', '-1');
const amounts = fc.dictionary(
  fc.oneof(fc.constantFrom('cpu', 'memory', 'example.test/widgets', '__proto__'), text),
  amount,
);
const resources = fc.record({ requests: amounts, limits: amounts }, some);
const env = fc.array(fc.record({ name: text, value: text }), { maxLength: 2 });
const container = fc.record({ name: text, image: text, resources, restartPolicy: fc.constant('Always'), env }, some);
const status = fc.record({ name: text, image: text, resources, allocatedResources: amounts }, some);
const containers = fc.array(container, { maxLength: 3 });
const statuses = fc.array(status, { maxLength: 3 });
const pod = fc.record({
  metadata: fc.record(
    {
      name: text,
      namespace: text,
      uid: text,
      resourceVersion: fc.nat().map(String),
      generation: fc.nat(),
      labels: fc.dictionary(text, text),
      managedFields: fc.array(fc.record({ manager: text, fieldsV1: fc.constant({ 'f:spec': {} }) }), { maxLength: 2 }),
    },
    { requiredKeys: ['name', 'uid', 'resourceVersion'] },
  ),
  spec: fc.record(
    {
      containers,
      initContainers: containers,
      priority: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      priorityClassName: text,
      overhead: amounts,
      resources,
      nodeName: text,
      hostNetwork: fc.boolean(),
    },
    some,
  ),
  status: fc.record(
    {
      phase: fc.constantFrom('Running', 'Failed'),
      containerStatuses: statuses,
      initContainerStatuses: statuses,
      allocatedResources: amounts,
      resources,
      hostIP: text,
    },
    some,
  ),
});

describe('decodeMessage', () => {
  test('what quotas look at of a pod is as in its JSON', () => {
    fc.assert(
      fc.property(pod, (raw) => {
        const message = encodeMessage(POD, raw);
        const decoded = decodeMessage(CHARGED_POD, message) as unknown as KubeObject;
        expect(decodeSeenPod(decoded)).toEqual(decodeSeenPod(raw as KubeObject));
      }),
    );
  });

  test('reads nothing else', () => {
    const raw = { metadata: { name: 'a', labels: { a: 'b' } }, spec: { nodeName: 'n', containers: [{ image: 'i' }] } };
    expect(decodeMessage(CHARGED_POD, encodeMessage(POD, raw))).toEqual({
      metadata: { name: 'a' },
      spec: { containers: [{}] },
    });
  });

  test('numbers, names and types of the fields are those of Kubernetes', () => {
    expect([CHARGED_POD, SCHEDULED_POD, NODE_POD].flatMap((message) => differences(message, POD))).toEqual([]);
  });
});

describe('peekPodMessage', () => {
  const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '7' };

  test('whose pod it is', () => {
    const { namespace, uid, resourceVersion } = metadata;
    expect(peekPodMessage(encodeMessage(POD, { metadata }))).toEqual({ namespace, uid, resourceVersion });
  });

  test.each(['namespace', 'uid', 'resourceVersion'])('nothing where there is no %s', (name) => {
    expect(peekPodMessage(encodeMessage(POD, { metadata: { ...metadata, [name]: undefined } }))).toBeUndefined();
  });
});

/** What `generated.proto` says otherwise. */
function differences(message: WireMessage, definition: string): readonly string[] {
  const known = fieldsOf(definition);
  return Array.from(message, ([number, { name, type, many = 'one' }]) => {
    const field = known?.get(number);
    const here = `${name} ${typeof type === 'object' ? 'message' : type} ${many}`;
    const there = field && `${field.name} ${typeName(field.type)} ${manyOf(field)}`;
    const inner = typeof type === 'object' && field !== undefined ? differences(type, field.type) : [];
    return here === there ? inner : [`${definition} ${number}: ${here}, not ${there ?? 'there'}`];
  }).flat();
}

function typeName(type: string): string {
  if (type === QUANTITY) return 'quantity';
  if (type === TIME) return 'time';
  return type === 'string' ? 'text' : type.startsWith('io.k8s.') ? 'message' : type;
}

function manyOf({ name, isList, isMap }: Field): string {
  if (isMap) return 'map';
  if (isList) return 'list';
  return name === '' ? 'inline' : 'one';
}
