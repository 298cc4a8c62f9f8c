import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ARCHITECTURES, type Architecture } from './oci/image.ts';
import { fileInTar } from './oci/tar.ts';

/** Where the fetched packages with Node are kept. */
export const NODE_FOLDER = 'node_modules/.cache/release';

/** The packages with Node and what npm says they contain: deploy/image/node.json. */
export interface NodePackages {
  readonly version: string;
  readonly integrity: Readonly<Record<Architecture, string>>;
}

/** Node for one architecture: the executable, and the digest of the package in hexadecimal. */
export interface NodeExecutable {
  readonly content: Buffer;
  readonly packageName: string;
  readonly sha512: string;
}

/** Reads the fetched packages; missing ones are left out. Throws if a package has a different content. */
export function nodeExecutables(
  { version, integrity }: NodePackages,
  folder: string,
): Partial<Record<Architecture, NodeExecutable>> {
  const found = ARCHITECTURES.flatMap((architecture) => {
    const file = join(folder, `${packageOf(architecture)}-${version}.tgz`);
    return existsSync(file) ? [[architecture, readExecutable(file, version, architecture, integrity)] as const] : [];
  });
  return Object.fromEntries(found);
}

function readExecutable(
  file: string,
  version: string,
  architecture: Architecture,
  integrity: NodePackages['integrity'],
): NodeExecutable {
  const archive = readFileSync(file);
  const hash = createHash('sha512').update(archive).digest();
  if (`sha512-${hash.toString('base64')}` !== integrity[architecture])
    throw new Error(`cannot use ${file}: its digest is not the one in deploy/image/node.json`);
  const content = fileInTar(gunzipSync(archive), 'package/bin/node');
  if (content === undefined) throw new Error(`cannot use ${file}: it holds no package/bin/node`);
  return { content, packageName: `${packageOf(architecture)}@${version}`, sha512: hash.toString('hex') };
}

/** Downloads the packages with npm, the only step that needs a network. */
export function fetchNode({ version }: NodePackages, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const names = ARCHITECTURES.map((architecture) => `${packageOf(architecture)}@${version}`);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, ...names], { stdio: ['ignore', 'ignore', 2] });
}

function packageOf(architecture: Architecture): string {
  return `node-linux-${architecture === 'amd64' ? 'x64' : architecture}`;
}
