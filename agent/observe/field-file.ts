import { ABSENT, createKernelFile, FAILED, scratch } from './kernel-file.ts';
import { parseSingleValue, scanFields } from './parse-bytes.ts';
import { absent, failed, type Missing } from './reading.ts';

/** A kernel file of `key value` lines, read into a fixed array of numbers. */
export interface FieldFile {
  /** `undefined` when the numbers in `values` are fresh, otherwise why they are not. */
  readonly read: () => Missing | undefined;
  /** In the order of the keys; NaN where the file lacks the key or has no plain number there. */
  readonly values: Float64Array;
  readonly close: () => void;
}

const encoder = new TextEncoder();

/** Opens nothing yet; `keys` are matched at line starts. */
export function createFieldFile(path: string, keys: readonly string[]): FieldFile {
  const file = createKernelFile(path);
  const wanted = keys.map((key) => encoder.encode(key));
  const values = new Float64Array(keys.length).fill(Number.NaN);

  function read(): Missing | undefined {
    const length = file.read();
    if (length === ABSENT) return absent(file.because);
    if (length === FAILED) return failed(file.because);
    scanFields(scratch, length, wanted, values);
    return undefined;
  }
  return { read, values, close: file.close };
}

/** A kernel file that holds one number; `max` is Infinity. */
export interface NumberFile {
  /** The number, NaN when the content is not one, or `undefined` together with `missing`. */
  readonly read: () => number | undefined;
  readonly missing: Missing;
  readonly close: () => void;
}

/** Opens nothing yet. */
export function createNumberFile(path: string): NumberFile {
  const file = createKernelFile(path);
  let missing: Missing = absent(`cannot read ${path}: not read yet`);

  function read(): number | undefined {
    const length = file.read();
    if (length >= 0) return parseSingleValue(scratch, length);
    missing = length === ABSENT ? absent(file.because) : failed(file.because);
    return undefined;
  }
  return {
    read,
    close: file.close,
    get missing() {
      return missing;
    },
  };
}
