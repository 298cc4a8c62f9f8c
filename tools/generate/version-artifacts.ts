import { globSync, readFileSync } from 'node:fs';
import type { Artifact } from './artifact.ts';

const FILES = [
  'deploy/charts/plimsoll/Chart.yaml',
  'deploy/{base,overlays/*}/kustomization.yaml',
  'README.md',
  'docs/{tutorial,guides/install}.md',
];
/** Patterns for the version of Plimsoll in these files. */
const VERSION = /(?<before>^version: |^appVersion: |^ +newTag: |\bplimsoll:)\d+\.\d+\.\d+(?:-[\w.]+)?/gm;

/** The files that name the version, with that of package.json, which is the only one to change by hand. */
export function versionArtifacts(): readonly Artifact[] {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  return globSync(FILES).map((path) => ({ path, text: withVersion(readFileSync(path, 'utf8'), version) }));
}

/** A text with another version of Plimsoll. */
export function withVersion(text: string, version: string): string {
  return text.replace(VERSION, `$<before>${version}`);
}
