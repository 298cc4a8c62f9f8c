import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { makeBaseImages } from './base-images.ts';
import { type Buildah, buildahIn } from './run-buildah.ts';

/** An image that a builder made from deploy/Dockerfile. */
export interface BuiltImage {
  /** Its layers, unpacked one over the other. */
  readonly root: string;
  /** Sum of its compressed layers, in bytes. */
  readonly compressedBytes: number;
  readonly config: ImageConfig;
}

/** `config` of an OCI image, as far as tests look at it. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  /** Each `NAME=VALUE`. */
  readonly Env: readonly string[];
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const DOCKERFILE = join(REPOSITORY, 'deploy/Dockerfile');
const BASE_LINE = /^FROM (?<name>\S+)/gm;

/** Builds the image from nothing in an empty folder: half a minute, and 2 GB of its file system. Needs root. */
export async function buildImage(folder: string): Promise<BuiltImage> {
  const buildah = buildahIn(folder);
  const bases = Array.from(
    readFileSync(DOCKERFILE, 'utf8').matchAll(BASE_LINE),
    ({ groups }) => groups?.['name'] ?? '',
  );
  await makeBaseImages(buildah, bases, join(folder, 'bases'));
  // Tests run the same build as the guide tells people to run, with packages of npm's cache where they are there.
  const build = ['build', '--quiet', '--pull-never', '--isolation', 'chroot', '--timestamp', '0', ...npmOf(folder)];
  await buildah(...build, '--tag', 'plimsoll:test', '--file', DOCKERFILE, REPOSITORY);
  return unpack(buildah, folder);
}

/** The settings of this machine's npm, so that the build finds its packages where `npm ci` does. */
function npmOf(folder: string): readonly string[] {
  const setting = (name: string): string => runProgram('npm', ['config', 'get', name]).trim();
  const file = join(folder, 'npmrc');
  writeFileSync(file, `cache=/npm-cache\nprefer-offline=true\nregistry=${setting('registry')}\n`);
  return ['--volume', `${file}:/root/.npmrc:ro`, '--volume', `${setting('cache')}:/npm-cache`];
}

async function unpack(buildah: Buildah, folder: string): Promise<BuiltImage> {
  const layout = join(folder, 'oci');
  await buildah('push', '--quiet', 'plimsoll:test', `oci:${layout}:test`);
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
  const { manifests } = read(join(layout, 'index.json')) as {
    readonly manifests: readonly { readonly digest: string }[];
  };
  const manifest = read(blob(manifests[0]?.digest ?? '')) as Manifest;
  const root = join(folder, 'root');
  mkdirSync(root);
  for (const { digest } of manifest.layers) runProgram('tar', ['-x', '-z', '-p', '-f', blob(digest), '-C', root]);
  const { config } = read(blob(manifest.config.digest)) as { readonly config: ImageConfig };
  return { root, compressedBytes: manifest.layers.reduce((sum, { size }) => sum + size, 0), config };
}
