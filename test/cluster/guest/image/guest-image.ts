import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { guestCache, makeWorkFolder } from './cache-folder.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';

/** What the root file system of a guest holds; paths in it start with `/`. */
export interface ImageRecipe {
  /** One lower-case word: images of that name that were not used for a day are removed when another is made. */
  readonly name: string;
  /** Executables of this machine and their guest paths; the libraries they are linked with come along. */
  readonly programs: Readonly<Record<string, string>>;
  /** Further files and folders of this machine, by guest path. */
  readonly copies: Readonly<Record<string, string>>;
  /** Executable scripts and other small files, by guest path. */
  readonly texts: Readonly<Record<string, string>>;
}

const FOLDERS = ['bin', 'proc', 'sys', 'dev', 'tmp', 'etc', 'run', 'root'];
/** Sparse: only what is written takes room. */
const IMAGE_BYTES = 8 * 1024 ** 3;
/** Another checkout may be about to start a guest of its own image: a day later it has. */
const UNUSED_MS = 86_400_000;

/** The ext4 image of a recipe, from the cache or made now (seconds, no root). Guests must not write to it. */
export function guestImage(recipe: ImageRecipe): string {
  const image = join(guestCache(), `${recipe.name}-${fingerprint(recipe)}.ext4`);
  if (!existsSync(image)) {
    makeImage(recipe, image);
    removeUnused(recipe.name, image);
  }
  const now = new Date();
  utimesSync(image, now, now);
  return image;
}

/** Changes with every input: what is copied counts by path, size and time of change. */
function fingerprint({ programs, copies, texts }: ImageRecipe): string {
  const inputs = Object.entries({ ...programs, ...copies }).map(([to, from]) => {
    const { size, mtimeMs } = statSync(from);
    return [to, from, size, mtimeMs];
  });
  return createHash('sha256')
    .update(JSON.stringify([inputs, texts]))
    .digest('hex')
    .slice(0, 16);
}

function makeImage(recipe: ImageRecipe, image: string): void {
  const work = makeWorkFolder();
  try {
    const root = join(work, 'root');
    fill(root, recipe);
    const unfinished = join(work, 'image');
    writeFileSync(unfinished, '');
    truncateSync(unfinished, IMAGE_BYTES);
    const options = ['-q', '-t', 'ext4', '-O', '^has_journal', '-E', 'lazy_itable_init=1,root_owner=0:0'];
    runProgram('mke2fs', [...options, '-d', root, unfinished]);
    renameSync(unfinished, image);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function fill(root: string, { programs, copies, texts }: ImageRecipe): void {
  for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
  for (const [to, from] of Object.entries({ ...copies, ...programs })) put(root, to, from);
  for (const library of Object.values(programs).flatMap(linkedLibraries)) put(root, library, library);
  for (const [to, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    writeFileSync(join(root, to), text);
    chmodSync(join(root, to), 0o755);
  }
}

/** Caches in node_modules, which other suites write and remove meanwhile. */
const WRITTEN_MEANWHILE: ReadonlySet<string> = new Set(['.cache', '.vitest-cache']);

function put(root: string, to: string, from: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  const filter = (path: string): boolean => !WRITTEN_MEANWHILE.has(basename(path));
  if (statSync(from).isDirectory()) cpSync(from, target, { recursive: true, verbatimSymlinks: true, filter });
  else copyFileSync(from, target);
}

/** Nothing for a static program, about which ldd complains. */
function linkedLibraries(program: string): readonly string[] {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' });
  return stdout.match(/\/lib\S+/g) ?? [];
}

function removeUnused(name: string, image: string): void {
  const others = readdirSync(guestCache()).filter((file) => file.startsWith(`${name}-`) && file !== basename(image));
  for (const path of others.map((file) => join(guestCache(), file))) {
    const usedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - usedMs > UNUSED_MS) rmSync(path, { force: true });
  }
}
