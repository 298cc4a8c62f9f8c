import { chmodSync, copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathOf } from '#test/cluster/guest/image/find-guest-tools.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import type { Buildah } from './run-buildah.ts';

const PATH = 'PATH=/usr/local/bin:/usr/bin:/bin';
const PASSWORDS = 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/:/sbin/nologin\n';

/**
 * Puts an image into the store for each that deploy/Dockerfile builds on, under its name, since none is pulled: the stages
 * with Node get this machine's Node and npm and a shell, the last the C library alone. Smaller than the real ones.
 */
export async function makeBaseImages(buildah: Buildah, names: readonly string[], folder: string): Promise<void> {
  for (const name of names) {
    const root = join(folder, name.replaceAll(/[/:]/g, '-'));
    layLibraries(root);
    if (name.startsWith('node:')) layNodeAndShell(root);
    const container = await buildah('from', 'scratch');
    await buildah('copy', '--quiet', container, root, '/');
    await buildah('config', '--env', PATH, container);
    await buildah('commit', '--quiet', '--rm', '--timestamp', '0', container, fullName(name));
  }
}

/** As a builder completes a short name. */
function fullName(name: string): string {
  return name.includes('/') ? name : `docker.io/library/${name}`;
}

function layLibraries(root: string): void {
  for (const each of ['etc', 'proc', 'sys', 'dev', 'tmp', 'var/tmp']) mkdirSync(join(root, each), { recursive: true });
  for (const each of ['tmp', 'var/tmp']) chmodSync(join(root, each), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), PASSWORDS);
  for (const library of runProgram('ldd', [process.execPath]).match(/\/\S+(?= \()/g) ?? [])
    copyTo(root, library, library);
}

function layNodeAndShell(root: string): void {
  const npm = dirname(dirname(realpathSync(pathOf('npm') ?? '')));
  copyTo(root, process.execPath, '/usr/local/bin/node');
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  for (const name of ['/bin/sh', '/usr/bin/env']) copyTo(root, pathOf('busybox') ?? '', name);
}

function copyTo(root: string, from: string, to: string): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to));
}
