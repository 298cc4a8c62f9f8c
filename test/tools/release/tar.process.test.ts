import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fileInTar, tarOf } from '#tools/release/oci/tar.ts';

const LONG = `${'a'.repeat(90)}/${'b'.repeat(90)}/c`;
const ENTRIES = [
  { path: 'b/program', content: Buffer.from('#!'), isExecutable: true },
  { path: LONG, content: Buffer.alloc(0) },
  { path: 'b/a', content: Buffer.alloc(1_025, 'x') },
];

test("an archive is one that tar reads: root's, of 1970, sorted, with the folders above", () => {
  const listed = execFileSync('tar', ['-t', '-v', '--numeric-owner', '--utc', '-f', '-'], {
    input: tarOf(ENTRIES),
    encoding: 'utf8',
  });
  expect(
    listed
      .trimEnd()
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')),
  ).toEqual([
    `drwxr-xr-x 0/0 0 1970-01-01 00:00 ${'a'.repeat(90)}/`,
    `drwxr-xr-x 0/0 0 1970-01-01 00:00 ${'a'.repeat(90)}/${'b'.repeat(90)}/`,
    `-rw-r--r-- 0/0 0 1970-01-01 00:00 ${LONG}`,
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 b/',
    '-rw-r--r-- 0/0 1025 1970-01-01 00:00 b/a',
    '-rwxr-xr-x 0/0 2 1970-01-01 00:00 b/program',
  ]);
});

test('the order in which files are given changes no byte', () => {
  expect(tarOf(ENTRIES.toReversed()).equals(tarOf(ENTRIES))).toBe(true);
});

test('a file is read back', () => {
  expect(fileInTar(tarOf(ENTRIES), 'b/a')?.toString()).toBe('x'.repeat(1_025));
  expect(fileInTar(tarOf(ENTRIES), 'b/c')).toBeUndefined();
});

test('a path that the format cannot hold is refused, and named', () => {
  expect(() => tarOf([{ path: 'x'.repeat(101), content: Buffer.alloc(0) }])).toThrow('too long for ustar');
});
