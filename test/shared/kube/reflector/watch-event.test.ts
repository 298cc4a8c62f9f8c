import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeWatchEvent } from '#shared/kube/reflector/read-watch.ts';

const object = { metadata: { name: 'a', resourceVersion: 'x9' } };

describe('decodeWatchEvent', () => {
  test.each<[unknown, unknown]>([
    [
      { type: 'ADDED', object },
      { kind: 'set', object, resourceVersion: 'x9' },
    ],
    [
      { type: 'MODIFIED', object },
      { kind: 'set', object, resourceVersion: 'x9' },
    ],
    [
      { type: 'DELETED', object },
      { kind: 'removed', object, resourceVersion: 'x9' },
    ],
    [
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9007199254740993' } } },
      { kind: 'bookmark', resourceVersion: '9007199254740993', endsInitialEvents: false },
    ],
    [
      {
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } },
      },
      { kind: 'bookmark', resourceVersion: '7', endsInitialEvents: true },
    ],
  ])('%j', (event, expected) => {
    expect(decodeWatchEvent(JSON.stringify(event))).toEqual(expected);
  });

  test('an error of the server keeps its kind', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    expect(decodeWatchEvent(JSON.stringify({ type: 'ERROR', object: status }))).toMatchObject({
      kind: 'refused',
      failure: { kind: 'gone', status: 410, message: 'too old' },
    });
  });

  test.each<[string, string]>([
    ['', 'a line that is not a JSON object'],
    ['null', 'a line that is not a JSON object'],
    ['[{}]', 'a line that is not a JSON object'],
    ['{"type":"FUTURE","object":{}}', 'an event of unknown type FUTURE'],
    ['{"object":{}}', 'an event of unknown type undefined'],
    ['{"type":"ADDED"}', 'an object without metadata.name'],
    ['{"type":"ADDED","object":{"metadata":{}}}', 'an object without metadata.name'],
    ['{"type":"ADDED","object":{"metadata":{"name":"a"}}}', 'an object without metadata.resourceVersion'],
    ['{"type":"BOOKMARK","object":{}}', 'a bookmark without metadata.resourceVersion'],
    ['{"type":"ERROR","object":{}}', 'an error without code'],
  ])('%s is unreadable (B-39)', (line, what) => {
    expect(decodeWatchEvent(line)).toEqual({ kind: 'unreadable', message: `the watch sent ${what}` });
  });

  test('no text whatever makes it throw', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void decodeWatchEvent(line)));
  });
});
