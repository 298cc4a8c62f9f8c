import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import type { Artifact } from './artifact.ts';

/** Fingerprints of sources and results, so that a check needs no kustomize. */
export interface Fingerprints {
  readonly sources: string;
  readonly files: Readonly<Record<string, string>>;
}

export const FINGERPRINTS_FILE = 'deploy/generated.json';
const SOURCES = ['deploy/{base,components,crds,overlays}/**/*.yaml', 'tools/generate/{*,chart/*}.ts'];

/** Fingerprints of the manifests and the generator in the working directory, and of these artifacts. */
export function fingerprintsOf(artifacts: readonly Artifact[]): Fingerprints {
  const paths = globSync(SOURCES).toSorted();
  const sources = paths.map((path) => `${path}\n${readFileSync(path, 'utf8')}`).join('\n');
  return {
    sources: digest(sources),
    files: Object.fromEntries(artifacts.map(({ path, text }) => [path, digest(text)])),
  };
}

/** The files that are stale: generated from other sources, missing, or changed by hand. */
export function staleFiles(recorded: Fingerprints, read: (path: string) => string | undefined): readonly string[] {
  const names = Object.keys(recorded.files);
  if (recorded.sources !== fingerprintsOf([]).sources) return names;
  return names.filter((path) => digest(read(path) ?? '') !== recorded.files[path]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
