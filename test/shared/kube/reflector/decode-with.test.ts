import { expect, test } from 'vitest';
import { decodeNamespace } from '#shared/kube/decode/decode-objects.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';

const slim = decodeWith(decodeNamespace);

test('a readable object becomes its value', () => {
  expect(slim({ metadata: { name: 'team-a' } })).toMatchObject({ name: 'team-a' });
});

test('an unreadable one throws, so that the reflector counts and logs it', () => {
  expect(() => slim({ metadata: { name: 'team-a', labels: { a: 7 } as never } })).toThrow(/^metadata\.labels/);
});
