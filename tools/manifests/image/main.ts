/** Writes the bill of materials and the licenses of the image into a folder; deploy/Dockerfile runs it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageArtifacts } from './image-artifacts.ts';

const [folder = '.'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const { path, text } of imageArtifacts()) writeFileSync(join(folder, path), text);
