/**
 * `npm run generate` writes every generated file: the pages of docs/reference, dashboards, deploy/install.yaml and the
 * Helm chart. It needs the kubectl that test:cluster builds. With `--check` it writes nothing and names the files that
 * are stale; the output of kustomize is then compared by fingerprints, or built again with `--build`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import type { Artifact } from './artifact.ts';
import { type Fingerprints, FINGERPRINTS_FILE, fingerprintsOf, staleFiles } from './fingerprints.ts';
import { kustomizeArtifacts } from './kustomize-artifacts.ts';
import { textArtifacts } from './text-artifacts.ts';

const texts = await textArtifacts();
if (process.argv.includes('--check')) check();
else generate();

function check(): void {
  const recorded = JSON.parse(readFileSync(FINGERPRINTS_FILE, 'utf8')) as Fingerprints;
  const built = process.argv.includes('--build') ? kustomizeArtifacts(kustomize) : [];
  const stale = [
    ...[...texts, ...built].filter(({ path, text }) => read(path) !== text).map(({ path }) => path),
    ...staleFiles(recorded, read),
  ];
  for (const path of stale) console.error(`${path} is stale: run npm run generate`);
  console.log(`generated: ${texts.length + Object.keys(recorded.files).length} files, ${stale.length} stale`);
  if (stale.length > 0) process.exitCode = 1;
}

function generate(): void {
  for (const artifact of texts) write(artifact);
  const built = kustomizeArtifacts(kustomize);
  for (const artifact of built) write(artifact);
  write({ path: FINGERPRINTS_FILE, text: `${JSON.stringify(fingerprintsOf(built), undefined, 2)}\n` });
}

function kustomize(folder: string): string {
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(`cannot build deploy/${folder}: ${binaries.because}`);
  const { status, stdout, stderr } = spawnSync(binaries.paths.kubectl, ['kustomize', `deploy/${folder}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`cannot build deploy/${folder}: ${stderr}`);
  return stdout;
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function write({ path, text }: Artifact): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
