import { describe, expect, test } from 'vitest';
import { decodeStatus, openEnvelope, readWatchFrame } from '#shared/kube/protobuf/envelope.ts';
import { UnreadableMessageError } from '#shared/kube/protobuf/decode-message.ts';
import { bytesField, encodeEnvelope, encodeFrame } from '#test/build/encode-message.ts';

const HEAD_BYTES = 4;
const object = Buffer.from([0x0a, 0]);

describe('readWatchFrame', () => {
  test('the type, and the object out of its envelope', () => {
    const frame = encodeFrame('ADDED', encodeEnvelope('v1', 'Pod', object)).subarray(HEAD_BYTES);
    expect(readWatchFrame(frame)).toEqual({ type: 'ADDED', object });
  });

  test.each<[string, Buffer]>([
    ['an event without an object', bytesField(1, Buffer.from('ADDED'))],
    ['an object without bytes', bytesField(2, Buffer.alloc(0))],
    ['an object without an envelope', bytesField(2, bytesField(1, object))],
    ['JSON', Buffer.from('{"type":"ADDED"}')],
  ])('refuses %s', (_, frame) => {
    expect(() => readWatchFrame(frame)).toThrow(UnreadableMessageError);
  });
});

describe('openEnvelope', () => {
  test('refuses an envelope that is empty', () => {
    expect(() => openEnvelope(Buffer.from('k8s\0'))).toThrow(UnreadableMessageError);
  });
});

describe('decodeStatus', () => {
  test('what a refusal says', () => {
    const cause = [bytesField(1, Buffer.from('FieldValueInvalid')), bytesField(3, Buffer.from('spec'))];
    const details = Buffer.concat([bytesField(4, Buffer.concat(cause)), Buffer.from([0x28, 3])]);
    const fields = [
      bytesField(3, Buffer.from('too old')),
      bytesField(4, Buffer.from('Expired')),
      bytesField(5, details),
    ];
    const code = Buffer.from([0x30, 0x9a, 0x03]);
    expect(decodeStatus(encodeEnvelope('v1', 'Status', Buffer.concat([...fields, code])))).toEqual({
      message: 'too old',
      reason: 'Expired',
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec' }], retryAfterSeconds: 3 },
      code: 410,
    });
  });
});
