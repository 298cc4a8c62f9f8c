import { describe, expect, test } from 'vitest';
import { parseFieldQuery } from '#sandbox/api-server/selectors/field-query.ts';
import { parseLabelQuery } from '#sandbox/api-server/selectors/label-query.ts';
import { POD_FIELDS } from '#sandbox/api-server/kinds/field-readers.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

const LABELS = { app: 'web', tier: 'front', 'plimsoll.dev/rank': '7' };

describe('parseLabelQuery', () => {
  test.each<[string, boolean]>([
    ['', true],
    ['app=web', true],
    ['app==web,tier=front', true],
    ['app!=web', false],
    ['other!=web', true],
    ['app in (web, db)', true],
    ['app notin (web)', false],
    ['other notin (web)', true],
    ['app', true],
    ['!app', false],
    ['! other', true],
    ['plimsoll.dev/rank>6', true],
    ['plimsoll.dev/rank<7', false],
    ['app=', false],
  ])('"%s"', (text, isMatch) => {
    expect(parseLabelQuery(text)(LABELS)).toBe(isMatch);
  });

  test.each(['a in (', '=x', 'a b', 'a=b c', 'a==b==c', 'a=-x', ','])('refuses "%s"', (text) => {
    expect(() => parseLabelQuery(text)).toThrow('unable to parse requirement');
  });

  test('refuses a selector of 100 kB at once', () => {
    expect(() => parseLabelQuery('a=b,'.repeat(25_000))).toThrow('longer than');
  });
});

describe('parseFieldQuery', () => {
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace: 'n' },
    spec: { nodeName: 'x' },
    status: { phase: 'Running' },
  };

  test.each<[string, boolean]>([
    ['', true],
    ['spec.nodeName=x,status.phase!=Failed', true],
    ['spec.nodeName=', false],
    ['metadata.name=p,metadata.namespace==n', true],
    ['spec.hostNetwork=false', true],
  ])('"%s"', (text, isMatch) => {
    expect(parseFieldQuery(text, POD_FIELDS).matches(pod as KubeObject)).toBe(isMatch);
  });

  test.each([
    ['spec.foo=x', 'field label not supported: spec.foo'],
    ['__proto__=x', 'field label not supported: __proto__'],
    ['nonsense', 'invalid selector'],
  ])('refuses "%s"', (text, message) => {
    expect(() => parseFieldQuery(text, POD_FIELDS)).toThrow(message);
  });
});
