import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { guestCache, makeWorkFolder } from './cache-folder.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';

/** A Linux kernel with cgroup v2, PSI, NVMe and ext4 built in, so that it needs no initial RAM disk. */
export interface GuestKernel {
  readonly image: string;
  /** Its loadable modules, `MODULES/kernel/…/NAME.ko`. */
  readonly modules: string;
}

/** The package that depends on the newest kernel for virtual machines. */
const META_PACKAGE = 'linux-image-cloud-amd64';

/**
 * Debian's kernel, downloaded and unpacked (not installed) into the cache the first time. Throws when the package
 * cannot be had.
 */
export function guestKernel(): GuestKernel {
  const folder = join(guestCache(), 'kernel');
  if (!existsSync(folder)) fetchKernel(folder);
  const version = readdirSync(join(folder, 'lib/modules'))[0] ?? '';
  return { image: join(folder, 'boot', `vmlinuz-${version}`), modules: join(folder, 'lib/modules', version) };
}

/** Complete or not there: the last step is one rename. */
function fetchKernel(folder: string): void {
  const unpacked = makeWorkFolder();
  try {
    runProgram('apt-get', ['download', kernelPackage()], unpacked);
    const file = readdirSync(unpacked).find((name) => name.endsWith('.deb')) ?? '';
    runProgram('dpkg', ['-x', file, '.'], unpacked);
    rmSync(join(unpacked, file));
    renameSync(unpacked, folder);
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function kernelPackage(): string {
  const depends = runProgram('apt-cache', ['depends', META_PACKAGE], '.');
  const name = /Depends: (?<name>linux-image-[0-9]\S*)/.exec(depends)?.groups?.['name'];
  if (name === undefined) throw new Error(`cannot find the kernel of ${META_PACKAGE}: expected a "Depends:" line`);
  return name;
}
