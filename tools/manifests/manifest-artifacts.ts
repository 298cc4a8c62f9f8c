import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Artifact } from '#tools/generate/artifact.ts';
import { writeArtifact } from '#tools/generate/write-artifact.ts';
import { chartArtifacts } from './chart-artifacts.ts';
import { imageArtifacts } from './image/image-artifacts.ts';
import { buildFolder } from './kustomize/build-folder.ts';

const CHART = 'chart';
const INSTALL_HEADING = `# Plimsoll as deploy/base installs it: the agents report and evict no pod. Made by: npm run manifests
`;

/** deploy/base as one file, the Helm chart, and what is in the image; by their paths in dist/. */
export function manifestArtifacts(): readonly Artifact[] {
  return [
    { path: 'install.yaml', text: installManifest() },
    ...chartArtifacts().map(({ path, text }) => ({ path: join(CHART, path), text })),
    ...imageArtifacts(),
  ];
}

/** Writes all of them into a folder, where no other file of a chart stays. */
export function writeManifests(folder: string): readonly Artifact[] {
  const artifacts = manifestArtifacts();
  rmSync(join(folder, CHART), { recursive: true, force: true });
  for (const artifact of artifacts) writeArtifact(folder, artifact);
  return artifacts;
}

/** deploy/base as one file. */
export function installManifest(): string {
  // What YAML 1.1 takes for a number or a boolean is quoted: kubectl reads that version.
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  return (
    INSTALL_HEADING +
    buildFolder('deploy/base')
      .map((object) => stringify(object, options))
      .join('---\n')
  );
}
