import { ABSENT, KernelFile, scratch } from './kernel-file.ts';
import { parseSingleValue, scanFields } from './parse-bytes.ts';
import { absent, failed, type Missing } from './reading.ts';

/** Keys of a file of `key value` lines and their values; shared by all files of one kind. */
export interface Fields {
  readonly keys: readonly Uint8Array[];
  /** In the order of the keys; NaN if the file lacks the key. Valid until the next read of a file of this kind. */
  readonly values: Float64Array;
}

const encoder = new TextEncoder();

/** Called once per kind of file, when the module is loaded. */
export function defineFields(...keys: readonly string[]): Fields {
  return { keys: keys.map((key) => encoder.encode(key)), values: new Float64Array(keys.length) };
}

/** Why a file could not be read; `length` is the return value of its `read()`. */
export function missingFrom(file: KernelFile, length: number): Missing {
  return length === ABSENT ? absent(file.because) : failed(file.because);
}

/** Reads a file's fields into `values`; returns why it could not, or `undefined` on success. */
export function readFields(file: KernelFile, { keys, values }: Fields): Missing | undefined {
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
