import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeManifests } from '#tools/manifests/manifest-artifacts.ts';

let folder = '';

/** A folder with what `npm run manifests` makes of this checkout, until the process ends; with a slash at its end. */
export function writtenManifests(): string {
  if (folder === '') {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-manifests-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    writeManifests(folder);
  }
  return `${folder}/`;
}
