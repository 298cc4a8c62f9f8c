import { readFileSync } from 'node:fs';

/** Key of the page size in the auxiliary vector (`AT_PAGESZ`). */
const PAGE_SIZE_KEY = 6n;
const WORD_BYTES = 8;
const USUAL = 4096;

/** Size of a page in bytes, the unit of the kernel's reclaim counters: 4 KiB, on some arm64 kernels 64 KiB. */
export function pageSize(): number {
  const words = auxiliaryVector();
  for (let at = 0; at + 1 < words.length; at += 2) if (words[at] === PAGE_SIZE_KEY) return Number(words[at + 1]);
  return USUAL;
}

function auxiliaryVector(): BigUint64Array {
  try {
    const bytes = new Uint8Array(readFileSync('/proc/self/auxv'));
    return new BigUint64Array(bytes.buffer, 0, Math.floor(bytes.length / WORD_BYTES));
  } catch {
    return new BigUint64Array();
  }
}
