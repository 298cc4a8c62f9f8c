import type { CgroupLayout } from './cgroup-layout.ts';
import { missingFrom } from '#agent/observe/source/field-file.ts';
import { KernelFile, scratch } from '#agent/observe/source/kernel-file.ts';
import { nextLine, parseInteger } from '#agent/observe/source/parse-bytes.ts';
import { absent, failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

/** Bytes read and written by one cgroup on all devices since it was created. */
export interface CgroupIo {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

const encoder = new TextEncoder();
/** File and keywords of both directions, by cgroup version. */
const WORDS = {
  v2: { file: 'io.stat', read: encoder.encode('rbytes='), written: encoder.encode('wbytes=') },
  v1: {
    file: 'blkio.throttle.io_service_bytes_recursive',
    read: encoder.encode(' Read '),
    written: encoder.encode(' Write '),
  },
} as const;

function startsWith(at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index += 1) if (scratch[at + index] !== word[index]) return false;
  return true;
}

/** The number after `word` on the line that starts at `start`, or 0: an idle device has no such word. */
function numberBehind(word: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    if (scratch[at] === word[0] && startsWith(at, word)) return parseInteger(scratch, at + word.length, end);
  }
  return 0;
}

function sumLines(length: number, words: (typeof WORDS)['v1' | 'v2']): CgroupIo {
  let readBytes = 0;
  let writtenBytes = 0;
  for (let at = 0; at < length; at = nextLine(scratch, at, length)) {
    const end = nextLine(scratch, at, length) - 1;
    readBytes += numberBehind(words.read, at, end);
    writtenBytes += numberBehind(words.written, at, end);
  }
  return { readBytes, writtenBytes };
}

/** io.stat on v2, blkio on v1; absent if the tree or the file does not exist. */
export function ioCgroupSource(layout: CgroupLayout, path: string): Source<CgroupIo> {
  const words = WORDS[layout.version];
  const file = new KernelFile(`${layout.io ?? ''}/${path}`, words.file);
  const noTree = absent('this node has no io tree');

  function read(): Reading<CgroupIo> {
    if (layout.io === undefined) return noTree;
    const length = file.read();
    if (length < 0) return missingFrom(file, length);
    const io = sumLines(length, words);
    return Number.isNaN(io.readBytes + io.writtenBytes)
      ? failed(`cannot use ${file.path}: expected numbers of bytes`)
      : reading(io);
  }
  return { name: 'io-cgroup', read, close: () => file.close() };
}
