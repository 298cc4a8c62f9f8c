import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Artifact } from './artifact.ts';

/** Writes a file below a folder. */
export function writeArtifact(folder: string, { path, text }: Artifact): void {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
