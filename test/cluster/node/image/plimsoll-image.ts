import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { shippedPackages, type Lock } from '#tools/manifests/image/bill-of-materials.ts';
import { type Command, type Dockerfile, readDockerfile } from './dockerfile.ts';
import { packImage } from './pack-image.ts';

/** As deploy/base names it. */
const PLIMSOLL_IMAGE = 'plimsoll:0.1.0';
const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
const NODE = '/usr/local/bin/node';
/** A build of a Dockerfile has these too: Node needs them to start itself. Seen by the command alone. */
const WITH_SYSTEM = 'mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec "$@"';
const PASSWORDS =
  'root:x:0:0:root:/root:/sbin/nologin\nplimsoll:x:65532:65532::/:/sbin/nologin\nagent:x:61013:61013::/:/sbin/nologin\n';

/**
 * Packs what deploy/Dockerfile describes, without a registry: its files, its settings and its commands, on the Node that
 * runs here instead of the base image. Needs root, as the commands run with the image as their root. Returns the archive.
 */
export function packPlimsollImage(folder: string): Promise<string> {
  const root = join(folder, 'root');
  const dockerfile = layPlimsollImage(root);
  return packImage({ name: PLIMSOLL_IMAGE, root, config: configOf(dockerfile) }, folder);
}

/** Makes the root file system of that image in a folder. */
export function layPlimsollImage(root: string): Dockerfile {
  const dockerfile = readDockerfile(readFileSync(join(REPOSITORY, 'deploy/Dockerfile'), 'utf8'));
  const app = join(root, dockerfile.workingFolder);
  layNode(root);
  for (const module of productionModules()) cpSync(join(REPOSITORY, module), join(app, module), { recursive: true });
  for (const [source, target] of dockerfile.copies)
    cpSync(join(REPOSITORY, source), join(app, target), { recursive: true });
  for (const command of dockerfile.commands) runInside(root, dockerfile, command);
  return dockerfile;
}

/** Node and the libraries it is linked with, and who may be named. */
function layNode(root: string): void {
  const libraries = runProgram('ldd', [process.execPath]).match(/\/\S+(?= \()/g) ?? [];
  for (const [from, to] of [[process.execPath, NODE] as const, ...libraries.map((each) => [each, each] as const)]) {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(from, join(root, to));
  }
  for (const each of ['etc', 'proc', 'sys', 'dev']) mkdirSync(join(root, each));
  for (const each of ['tmp', 'var/tmp', 'var/tmp/compile-cache']) makeWorldWritable(join(root, each));
  writeFileSync(join(root, 'etc/passwd'), PASSWORDS);
}

function makeWorldWritable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o1777);
}

/** Folders of the packages that `npm ci --omit=dev` installs; of optional ones those that are here. */
function productionModules(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')) as Lock;
  return Array.from(shippedPackages(lock), ([folder]) => folder).filter((folder) =>
    existsSync(join(REPOSITORY, folder)),
  );
}

function runInside(root: string, { workingFolder, environment }: Dockerfile, { words, user }: Command): void {
  const inside = ['unshare', `--root=${root}`, `--wd=${workingFolder}`, ...asUser(user), ...words];
  const inNamespaces = ['--mount', '--pid', '--fork', 'sh', '-c', WITH_SYSTEM, root];
  runProgram('unshare', [...inNamespaces, 'env', '-i', ...variables(environment), ...inside]);
}

function asUser(user: string): readonly string[] {
  const [uid = '0', gid = uid] = user.split(':');
  return [`--setuid=${uid}`, `--setgid=${gid}`];
}

function configOf({ workingFolder, environment, user }: Dockerfile): object {
  return { WorkingDir: workingFolder, User: user, Env: variables(environment) };
}

function variables(environment: Dockerfile['environment']): readonly string[] {
  return Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...environment }).map(
    ([name, value]) => `${name}=${value}`,
  );
}
