import { closeSync, openSync, readSync } from 'node:fs';

/** `read()` says this instead of a length when this kernel or this moment does not have the file. */
export const ABSENT = -1;
/** `read()` says this instead of a length when the file is there and cannot be read. */
export const FAILED = -2;

/** A file under /proc or /sys that is opened once and read again from its start each time. */
export interface KernelFile {
  readonly path: string;
  /** The number of bytes now in {@link scratch}, or ABSENT, or FAILED. Never throws. */
  readonly read: () => number;
  /** Why the last read was ABSENT or FAILED. */
  readonly because: string;
  readonly close: () => void;
}

/** All kernel files are read into this one buffer; its content is valid until the next read of any of them. */
export const scratch = new Uint8Array(64 * 1024);

/** A seq_file gives at most about a page per read: only an answer near that size may have more behind it. */
const NEAR_A_PAGE = 4096 - 256;
/** ENODEV: the cgroup behind a kept descriptor is gone (F-22). EOPNOTSUPP: PSI is compiled in and switched off. */
const ABSENT_CODES = new Set(['ENOENT', 'ENODEV', 'ENOTDIR', 'EOPNOTSUPP', 'ENOTSUP']);
const CLOSED = -1;

function readWhole(descriptor: number): number {
  let length = 0;
  for (;;) {
    const more = readSync(descriptor, scratch, length, scratch.length - length, length);
    length += more;
    if (more < NEAR_A_PAGE || length === scratch.length) return length;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error);
}

function tryClose(descriptor: number): void {
  if (descriptor === CLOSED) return;
  try {
    closeSync(descriptor);
  } catch (error) {
    // A descriptor of a removed cgroup may answer ENODEV; there is nothing left to release then.
    if (codeOf(error) === 'EBADF') throw error;
  }
}

/** Opens lazily, keeps the descriptor, and opens again after the file vanished (ENODEV, ENOENT). */
export function createKernelFile(path: string): KernelFile {
  let descriptor = CLOSED;
  let because = '';

  function close(): void {
    tryClose(descriptor);
    descriptor = CLOSED;
  }

  function attempt(): number {
    try {
      if (descriptor === CLOSED) descriptor = openSync(path, 'r');
      return readWhole(descriptor);
    } catch (error) {
      close();
      const code = codeOf(error);
      because = `cannot read ${path}: ${code}`;
      return ABSENT_CODES.has(code) ? ABSENT : FAILED;
    }
  }

  function read(): number {
    const wasOpen = descriptor !== CLOSED;
    const length = attempt();
    // A group removed and made again under the same name is a new file: one fresh open tells.
    return length === ABSENT && wasOpen ? attempt() : length;
  }

  return {
    path,
    read,
    close,
    get because() {
      return because;
    },
  };
}
