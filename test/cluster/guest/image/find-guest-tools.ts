import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type GuestKernel, guestKernel } from './guest-kernel.ts';

/** What every guest needs of this machine. */
export interface FoundGuestTools {
  readonly kind: 'found';
  readonly qemu: string;
  readonly busybox: string;
  readonly kernel: GuestKernel;
}

export type GuestTools = FoundGuestTools | { readonly kind: 'missing'; readonly because: string };

/** Programs and the Debian package each is in. */
const PACKAGES = {
  'qemu-system-x86_64': 'qemu-system-x86',
  busybox: 'busybox-static',
  mke2fs: 'e2fsprogs',
  setpriv: 'util-linux',
} as const;

const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Looks for the programs and the kernel, which is downloaded the first time. Needs no root. */
export function findGuestTools(): GuestTools {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { kind: 'missing', because: `the guest is made for linux x64, this is ${process.platform} ${process.arch}` };
  }
  const missing = Object.entries(PACKAGES).filter(([program]) => pathOf(program) === undefined);
  if (missing.length > 0) {
    return { kind: 'missing', because: `these packages are not installed: ${missing.map(([, it]) => it).join(', ')}` };
  }
  try {
    const [qemu = '', busybox = ''] = ['qemu-system-x86_64', 'busybox'].map(pathOf);
    return { kind: 'found', qemu, busybox, kernel: guestKernel() };
  } catch (error) {
    return { kind: 'missing', because: error instanceof Error ? error.message : String(error) };
  }
}

/** Why tests in a guest are left out, for the name of their group; with `CI` set they are run, and fail. */
export function whyNoGuest(tools: GuestTools): string | undefined {
  return tools.kind === 'missing' && process.env['CI'] === undefined ? ` (not run: ${tools.because})` : undefined;
}

/** Throws the reason when something is missing. */
export function neededTools(tools: GuestTools): FoundGuestTools {
  if (tools.kind === 'missing') throw new Error(`no guest: ${tools.because}`);
  return tools;
}

/** Where a program is; administrators' folders count for all users. */
export function pathOf(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
