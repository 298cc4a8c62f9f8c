import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findBinaries } from './support/control-plane/binaries.ts';

const BINARIES = new URL('./support/control-plane/binaries.ts', import.meta.url).href;
const FIND = `
  const { findBinaries } = await import(${JSON.stringify(BINARIES)});
  if (findBinaries(process.env).kind === 'missing') process.exit(1);
`;
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'];
/** Stands for Go: makes a file for everything it is asked to build, `-o FILE` or `-o FOLDER/`. */
const GO = `#!/bin/sh
[ "$1" = version ] && exit 0
while [ "$1" != -o ]; do shift; done
out=$2; shift 2
for package in "$@"; do
  case $out in */) touch "$out\${package##*/}";; *) touch "$out";; esac
done
`;

describe('where the programs of Kubernetes are', () => {
  let folder: string;
  let cache: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    cache = join(folder, 'plimsoll', 'kubernetes-1.36.3');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function pathsIn(at: string): object {
    return { kind: 'found', paths: Object.fromEntries(PROGRAMS.map((name) => [name, join(at, name)])) };
  }

  /** With the kubelet, as it is built along with them. */
  function pathsBuilt(): object {
    return {
      kind: 'found',
      paths: Object.fromEntries([...PROGRAMS, 'kubelet'].map((name) => [name, join(cache, name)])),
    };
  }

  function fill(at: string, names: readonly string[]): void {
    mkdirSync(at, { recursive: true });
    for (const name of names) writeFileSync(join(at, name), '');
  }

  /** An environment whose cache is empty and whose Go is this script. */
  function withGo(script: string): Readonly<Record<string, string>> {
    const programs = join(folder, 'bin');
    fill(programs, ['go']);
    writeFileSync(join(programs, 'go'), script);
    chmodSync(join(programs, 'go'), 0o755);
    return { XDG_CACHE_HOME: folder, PATH: `${programs}:${process.env['PATH'] ?? ''}` };
  }

  test('in the folder that KUBEBUILDER_ASSETS names', () => {
    fill(folder, PROGRAMS);
    expect(findBinaries({ KUBEBUILDER_ASSETS: folder })).toEqual(pathsIn(folder));
  });

  test('nowhere else if that is set: what is missing there is missing', () => {
    fill(folder, ['etcd', 'kube-apiserver', 'kubectl']);
    fill(cache, PROGRAMS);
    expect(findBinaries({ KUBEBUILDER_ASSETS: folder, XDG_CACHE_HOME: folder })).toEqual({
      kind: 'missing',
      because: `no kube-controller-manager, kube-scheduler in ${folder}`,
    });
  });

  test('in the cache folder, with or without Go', () => {
    fill(cache, [...PROGRAMS, 'kubelet']);
    expect(findBinaries({ XDG_CACHE_HOME: folder, PATH: '' })).toEqual(pathsBuilt());
  });

  test('of another version where PLIMSOLL_KUBERNETES names one', () => {
    const other = join(folder, 'plimsoll', 'kubernetes-1.34.4');
    fill(other, [...PROGRAMS, 'kubelet']);
    const found = findBinaries({ XDG_CACHE_HOME: folder, PATH: '', PLIMSOLL_KUBERNETES: '1.34' });
    expect(found).toMatchObject({ kind: 'found', paths: { kubectl: join(other, 'kubectl') } });
  });

  test('nowhere for a version that no test runs on', () => {
    expect(() => findBinaries({ XDG_CACHE_HOME: folder, PLIMSOLL_KUBERNETES: '1.29' })).toThrow(
      'cannot test on Kubernetes "1.29" (PLIMSOLL_KUBERNETES): expected one of 1.34, 1.35, 1.36',
    );
  });

  test('built there when they are not, once', () => {
    const env = withGo(GO);
    expect(findBinaries(env)).toEqual(pathsBuilt());
    expect(findBinaries({ ...env, PATH: '' })).toEqual(pathsBuilt());
  });

  test('built by one of two processes that need them at a time', async () => {
    const env = withGo(GO.replace('out=$2;', 'echo >>"$XDG_CACHE_HOME/builds"; sleep 1; out=$2;'));
    const find = () => spawn(process.execPath, ['--input-type=module', '-e', FIND], { env, stdio: 'inherit' });
    const codes = await Promise.all([find(), find()].map(async (each) => (await once(each, 'exit'))[0] as unknown));
    expect(codes).toEqual([0, 0]);
    // That of Kubernetes and that of etcd.
    expect(readFileSync(join(folder, 'builds'), 'utf8')).toBe('\n\n');
  });

  test('a build that was cut off is done again', () => {
    fill(cache, ['etcd']);
    expect(findBinaries(withGo(GO))).toEqual(pathsBuilt());
  });

  test('a build that fails says so and leaves nothing', () => {
    const env = withGo(GO.replace('out=$2;', 'touch "$2/half"; exit 1;'));
    expect(findBinaries(env)).toEqual({ kind: 'missing', because: 'go build of kubernetes-1.36.3 ended with 1' });
    expect(readdirSync(join(folder, 'plimsoll'))).toEqual([]);
  });

  test('without Go they are missing', () => {
    expect(findBinaries({ XDG_CACHE_HOME: folder, PATH: '' })).toEqual({
      kind: 'missing',
      because: 'Go is not installed, so kubernetes-1.36.3 cannot be built',
    });
  });
});
