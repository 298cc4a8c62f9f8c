import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '#test/cluster/support/run-program.ts';

/** The last commit whose chart gave each part a Deployment, an account and a Lease of its own. */
const EARLIER = 'f230c9ab9ad9ef06f7be6a00dab523fe75c40a62';
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Why there is no earlier version, for the name of a group. */
export function whyNoEarlierVersion(): string | undefined {
  const isKnown = spawnSync('git', ['cat-file', '-e', EARLIER], { cwd: ROOT }).status === 0;
  return isKnown ? undefined : ' (not run: the history does not reach back to the earlier chart)';
}

/** Puts the sources of then into a folder, makes their manifests, and names it; the packages are those of now. */
export function earlierVersion(folder: string): string {
  const earlier = join(folder, 'earlier');
  mkdirSync(earlier);
  const archive = spawnSync('git', ['archive', EARLIER], { cwd: ROOT, maxBuffer: 256 << 20 });
  const unpacked = spawnSync('tar', ['-x', '-C', earlier], { input: archive.stdout });
  if (archive.status !== 0 || unpacked.status !== 0) throw new Error('cannot read the earlier version from git');
  symlinkSync(join(ROOT, 'node_modules'), join(earlier, 'node_modules'));
  runProgram(process.execPath, ['tools/manifests/main.ts'], earlier);
  return earlier;
}
