import { describe, expect, test } from 'vitest';
import { decodeEnvelope } from '#sandbox/api-server/protobuf/decode-message.ts';
import { compactMessages } from '#test/sandbox/api-server/protobuf/compact-messages.ts';

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A field of text, bytes or a message. */
function bytes(number: number, content: string | Buffer): Buffer {
  const body = Buffer.from(content);
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);
}

function int(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

function envelope(apiVersion: string, kind: string, ...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from('k8s\0'),
    bytes(1, Buffer.concat([bytes(1, apiVersion), bytes(2, kind)])),
    bytes(2, Buffer.concat(fields)),
  ]);
}

const metadata = bytes(
  1,
  Buffer.concat([bytes(1, 'x'), bytes(2, ''), bytes(11, Buffer.concat([bytes(1, 'a'), bytes(2, 'b')])), bytes(8, '')]),
);

describe('decodeEnvelope', () => {
  test('scalars, maps, and times that are none', () => {
    expect(
      decodeEnvelope(envelope('scheduling.k8s.io/v1', 'PriorityClass', metadata, int(2, 1000), int(3, 1))),
    ).toEqual({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'x', labels: { a: 'b' } },
      value: 1000,
      globalDefault: true,
    });
  });

  test('negative numbers take ten bytes', () => {
    const negative = Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    expect(decodeEnvelope(envelope('scheduling.k8s.io/v1', 'PriorityClass', negative))).toMatchObject({ value: -1 });
  });

  test('quantities in a map', () => {
    const hard = bytes(1, Buffer.concat([bytes(1, 'pods'), bytes(2, bytes(1, '2'))]));
    expect(decodeEnvelope(envelope('v1', 'ResourceQuota', bytes(2, hard)))).toMatchObject({
      spec: { hard: { pods: '2' } },
    });
  });

  test('what JSON inlines', () => {
    const volume = Buffer.concat([bytes(1, 'v'), bytes(2, bytes(2, ''))]);
    expect(decodeEnvelope(envelope('v1', 'Pod', bytes(2, bytes(1, volume))))).toMatchObject({
      spec: { volumes: [{ name: 'v', emptyDir: {} }] },
    });
  });

  test('times and numbers or texts', () => {
    const time = bytes(1, bytes(8, int(1, 1_767_225_600)));
    expect(decodeEnvelope(envelope('v1', 'ConfigMap', time))).toMatchObject({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    });
    const spec = Buffer.concat([
      bytes(1, Buffer.concat([int(1, 1), bytes(3, '50%')])),
      bytes(3, Buffer.concat([int(1, 0), int(2, 1)])),
    ]);
    expect(decodeEnvelope(envelope('policy/v1', 'PodDisruptionBudget', bytes(2, spec)))).toMatchObject({
      spec: { minAvailable: '50%', maxUnavailable: 1 },
    });
  });

  test('fields from the future are passed over, kinds without message are not there', () => {
    expect(decodeEnvelope(envelope('v1', 'ConfigMap', bytes(99, 'x')))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
    });
    expect(decodeEnvelope(envelope('plimsoll.dev/v1', 'Boat'))).toBeUndefined();
  });

  test.each([
    ['no magic', Buffer.from('{}')],
    ['a text that is cut off', Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, 0x7f, 0x01])])],
    ['a number that does not end', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(12, 0xff)])],
    ['an unknown wire type', Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0f, 0x00])])],
  ])('%s is refused', (_, body) => {
    expect(() => decodeEnvelope(body)).toThrow(RangeError);
  });
});

describe('compactMessages', () => {
  test('reads names, lists, maps and what JSON inlines', () => {
    const proto = `package k8s.io.api.core.v1;\nmessage Volume {\n  // comment\n  optional string name = 1;\n\n  optional VolumeSource volumeSource = 2;\n\n  repeated .k8s.io.apimachinery.pkg.apis.meta.v1.Time Times = 3;\n\n  map<string, Amount> amounts = 4;\n}\n`;
    expect(
      compactMessages([proto], () => ['name', 'times', 'amounts']).map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        name: 'io.k8s.api.core.v1.Volume',
        1: 'name string',
        2: ' io.k8s.api.core.v1.VolumeSource',
        3: 'times []io.k8s.apimachinery.pkg.apis.meta.v1.Time',
        4: 'amounts {}io.k8s.api.core.v1.Amount',
      },
    ]);
  });
});
