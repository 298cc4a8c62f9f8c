import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readDockerfile } from '#test/cluster/node/image/dockerfile.ts';
import { type Lock, shippedPackages } from '#tools/manifests/image/bill-of-materials.ts';
import { imageArtifacts } from '#tools/manifests/image/image-artifacts.ts';
import type { TarEntry } from './oci/tar.ts';
import type { ImageParts } from './oci/image.ts';
import { trackedFiles } from './source.ts';

const DOCKERFILE = 'deploy/Dockerfile';
/** Code compiled by V8 differs with each compilation, and must be compiled on a machine of the same architecture. */
const OF_COMPILED_CODE = 'NODE_COMPILE_CACHE';
const EXECUTABLE = 0o100;
/** Where a command of the Dockerfile writes what the image is made of. */
const DESCRIPTIONS = 'deploy/image';

/** The files that deploy/Dockerfile puts into the image, without Node and compiled code, and its settings. */
export function imageFiles(): Pick<ImageParts, 'files' | 'config'> {
  const { workingFolder, environment, user, copies } = readDockerfile(readFileSync(DOCKERFILE, 'utf8'));
  const sources = copies.flatMap(([source]) => trackedFiles(source));
  const inImage = (path: string): string => join(workingFolder, path).slice(1);
  const files = [...sources, ...packageFiles()].map((path) => entryOf(inImage(path), path));
  const descriptions = imageArtifacts().map(({ path, text }) => ({
    path: inImage(join(DESCRIPTIONS, path)),
    content: Buffer.from(text),
  }));
  const variables = Object.entries(environment).filter(([name]) => name !== OF_COMPILED_CODE);
  const Env = [
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...variables.map(([name, value]) => `${name}=${value}`),
  ];
  return { files: [...files, ...descriptions], config: { Env, User: user, WorkingDir: workingFolder } };
}

/** The packages that `npm ci --omit=dev` installs; optional ones only if they are installed here. */
function packageFiles(): readonly string[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const folders = Array.from(shippedPackages(lock), ([folder]) => folder).filter((folder) => existsSync(folder));
  return folders.flatMap((folder) =>
    globSync(`${folder}/**`, { withFileTypes: true, exclude: ['**/node_modules/**/node_modules'] })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
}

/** A file of the checkout under its path in an archive. */
function entryOf(path: string, file: string): TarEntry {
  return { path, content: readFileSync(file), isExecutable: (statSync(file).mode & EXECUTABLE) !== 0 };
}
