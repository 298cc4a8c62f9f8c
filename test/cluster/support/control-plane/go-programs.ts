import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { leavePlace, takePlace } from '#test/cluster/support/run/sole-holder.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where each program is, or why there is none. */
export type Programs<Name extends string> =
  | { readonly kind: 'found'; readonly paths: Readonly<Record<Name, string>> }
  | { readonly kind: 'missing'; readonly because: string };

/** Programs that are built from one pinned Go module. */
export interface GoRecipe<Name extends string> {
  /** Of the folder in the cache: product and version, as a built program is kept for ever. */
  readonly name: string;
  /** Folder of go.mod. */
  readonly module: string;
  readonly programs: readonly Name[];
  /** Arguments of each `go build`; the output is a file or a folder. */
  readonly builds: (folder: string) => readonly (readonly string[])[];
}

/** Looks in the user's cache folder, and builds there what is missing: minutes the first time, never again. */
export function goPrograms<Name extends string>(recipe: GoRecipe<Name>, env: Environment): Programs<Name> {
  const folder = join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'plimsoll', recipe.name);
  const cached = programsIn(folder, recipe.programs);
  return cached.kind === 'found' ? cached : aloneAt(`${folder}.building`, () => builtIn(folder, recipe, env));
}

/** The program of a module of this repository that is a program alone, built anew when a file of it has changed. */
export function ownGoProgram<Name extends string>(name: Name, module: string, env: Environment): Programs<Name> {
  const hash = createHash('sha256');
  for (const file of readdirSync(module).toSorted()) hash.update(readFileSync(join(module, file)));
  return goPrograms(
    {
      name: `${name}-${hash.digest('hex').slice(0, 16)}`,
      module,
      programs: [name],
      builds: (folder) => [['-ldflags', '-s -w', '-o', `${folder}/`, '.']],
    },
    env,
  );
}

/** Why a program is not run, for the name of a group of tests; a failure where `CI` is set. */
export function whyNotRun(programs: Programs<string>, what: string, env: Environment): string | undefined {
  if (programs.kind === 'found') return undefined;
  if (env['CI'] !== undefined) throw new Error(`cannot ${what}: ${programs.because}`);
  return ` (not run: ${programs.because})`;
}

/** Waits while another process is there: two suites that run beside each other need the same programs. */
function aloneAt<T>(place: string, act: () => T): T {
  mkdirSync(dirname(place), { recursive: true });
  while (takePlace(place) !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    return act();
  } finally {
    leavePlace(place);
  }
}

/** What another process has built meanwhile is not built again. */
function builtIn<Name extends string>(folder: string, recipe: GoRecipe<Name>, env: Environment): Programs<Name> {
  const cached = programsIn(folder, recipe.programs);
  if (cached.kind === 'found') return cached;
  const failure = build(recipe, folder, env);
  return failure === undefined ? programsIn(folder, recipe.programs) : { kind: 'missing', because: failure };
}

/** The programs in a folder; they are missing when one is. */
export function programsIn<Name extends string>(folder: string, programs: readonly Name[]): Programs<Name> {
  const missing = programs.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) return { kind: 'missing', because: `no ${missing.join(', ')} in ${folder}` };
  const paths = Object.fromEntries(programs.map((name) => [name, join(folder, name)]));
  return { kind: 'found', paths: paths as Record<Name, string> };
}

/** What went wrong, if anything did. Built next to the folder and moved there: a build that was cut off does not count. */
function build<Name extends string>(recipe: GoRecipe<Name>, folder: string, env: Environment): string | undefined {
  const { status } = spawnSync('go', ['version'], { env });
  if (status !== 0) return `Go is not installed, so ${recipe.name} cannot be built`;
  const staging = mkdtempSync(`${folder}-`);
  const failure = buildInto(staging, recipe, env);
  if (failure === undefined) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
  }
  rmSync(staging, { recursive: true, force: true });
  return failure;
}

function buildInto<Name extends string>(
  folder: string,
  { name, module, builds }: GoRecipe<Name>,
  env: Environment,
): string | undefined {
  for (const args of builds(folder)) {
    const goBuild = (): number | null =>
      spawnSync('go', ['build', ...args], {
        cwd: module,
        env: { ...env, CGO_ENABLED: '0' },
        // Standard output belongs to the caller.
        stdio: ['ignore', 2, 2],
      }).status;
    const status = firstZero(goBuild);
    if (status !== 0) return `go build of ${name} ended with ${status ?? 'a signal'}`;
  }
  return undefined;
}

/** The last status of up to three attempts: modules may have to be downloaded, and a network can be away for a moment. */
function firstZero(attempt: () => number | null): number | null {
  let status = attempt();
  for (let again = 0; status !== 0 && again < 2; again += 1) status = attempt();
  return status;
}
