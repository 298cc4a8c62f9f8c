import { closeSync, openSync, readSync } from 'node:fs';
import { parseSingleValue, scanFields } from './parse-bytes.ts';
import { absent, failed, type Missing } from './source.ts';

/** `read()` returns this instead of a length when the file does not exist. */
export const ABSENT = -1;
/** `read()` returns this instead of a length when the file exists but cannot be read. */
export const FAILED = -2;

/**
 * Buffer for all kernel files; its content is valid until the next read of any of them. /proc/stat has up to 230 bytes
 * for each of up to 8,192 processors. Only pages that were written to take memory.
 */
export const scratch = new Uint8Array(2 * 1024 * 1024);

/** A seq_file returns at most about a page per read: only a read near that size may be followed by more data. */
const NEAR_A_PAGE = 4096 - 256;
/** For a file below /proc/sys the kernel allocates and clears as much as a read asks for, before it looks at the file. */
const READ_BYTES = 16 * 1024;
/** ENODEV: the cgroup behind a kept descriptor is gone. EOPNOTSUPP: PSI is compiled in and switched off. */
const ABSENT_CODES = new Set(['ENOENT', 'ENODEV', 'ENOTDIR', 'EOPNOTSUPP', 'ENOTSUP']);
const CLOSED = -1;

/**
 * A file under /proc or /sys that is opened once and read from its start each time. It opens lazily, and again after
 * the file vanished. A class with the path in two parts, because a node has thousands of these files.
 */
export class KernelFile {
  readonly #directory: string;
  readonly #name: string;
  #descriptor = CLOSED;
  #code = '';

  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  get path(): string {
    return `${this.#directory}/${this.#name}`;
  }

  /** Why the last read was ABSENT or FAILED. */
  get because(): string {
    return `cannot read ${this.path}: ${this.#code}`;
  }

  /** The number of bytes now in {@link scratch}, or ABSENT, or FAILED. Never throws. */
  read(): number {
    const wasOpen = this.#descriptor !== CLOSED;
    const length = this.#attempt();
    // A cgroup removed and created again under the same name is a new file: open it once more.
    return length === ABSENT && wasOpen ? this.#attempt() : length;
  }

  /** May be called more than once; a later read opens again. */
  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = CLOSED;
    if (descriptor !== CLOSED) tryClose(descriptor);
  }

  #attempt(): number {
    try {
      if (this.#descriptor === CLOSED) this.#descriptor = openSync(this.path, 'r');
      return readWhole(this.#descriptor);
    } catch (error) {
      this.close();
      this.#code = codeOf(error);
      return ABSENT_CODES.has(this.#code) ? ABSENT : FAILED;
    }
  }
}

function readWhole(descriptor: number): number {
  let length = 0;
  for (;;) {
    const more = readSync(descriptor, scratch, length, Math.min(READ_BYTES, scratch.length - length), length);
    length += more;
    if (more < NEAR_A_PAGE || length === scratch.length) return length;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error);
}

function tryClose(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch (error) {
    // Closing a descriptor of a removed cgroup may fail with ENODEV; nothing is left to release then.
    if (codeOf(error) === 'EBADF') throw error;
  }
}

/** Keys of a file of `key value` lines and their values; shared by all files of one kind. */
export interface KernelFields {
  readonly keys: readonly Uint8Array[];
  /** In the order of the keys; NaN if the file lacks the key. Valid until the next read of a file of this kind. */
  readonly values: Float64Array;
}

const encoder = new TextEncoder();

/** Called once per kind of file, when the module is loaded. */
export function defineFields(...keys: readonly string[]): KernelFields {
  return { keys: keys.map((key) => encoder.encode(key)), values: new Float64Array(keys.length) };
}

/** Why a file could not be read; `length` is the return value of its `read()`. */
export function missingFrom(file: KernelFile, length: number): Missing {
  return length === ABSENT ? absent(file.because) : failed(file.because);
}

/** Reads a file's fields into `values`; returns why it could not, or `undefined` on success. */
export function readFields(file: KernelFile, { keys, values }: KernelFields): Missing | undefined {
  const length = file.read();
  if (length < 0) return missingFrom(file, length);
  scanFields(scratch, length, keys, values);
  return undefined;
}

/** A kernel file that holds one number; `max` is Infinity. */
export class NumberFile extends KernelFile {
  #missing: Missing | undefined;

  /** The number, NaN when the content is not one, or `undefined` together with `missing`. */
  readNumber(): number | undefined {
    const length = this.read();
    if (length >= 0) return parseSingleValue(scratch, length);
    this.#missing = missingFrom(this, length);
    return undefined;
  }

  /** Why the last `readNumber` returned `undefined`. */
  get missing(): Missing {
    return this.#missing ?? absent(`${this.path} was not read yet`);
  }
}
