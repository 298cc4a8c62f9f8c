import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { InputError } from '#cli/process-io.ts';

/** The text of one file. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
}

const STANDARD_INPUT = '-';
const EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json'];
/** For hand-written files. */
const LARGEST_FILE_MIB = 8;
const MIB = 1024 * 1024;

/**
 * Reads files (`-` for standard input) and every manifest directly in a directory, in order of their names. Rejects
 * with an InputError if something is missing, larger than `largestMib` or not text.
 */
export async function readFiles(
  paths: readonly string[],
  standardInput: Readable,
  largestMib = LARGEST_FILE_MIB,
): Promise<readonly TextFile[]> {
  const files: TextFile[] = [];
  for (const path of paths) {
    if (path === STANDARD_INPUT) files.push(await readText('standard input', standardInput, largestMib));
    else for (const name of await filesAt(path)) files.push(await readText(name, createReadStream(name), largestMib));
  }
  return files;
}

async function filesAt(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path);
    return names
      .filter((name) => EXTENSIONS.includes(extname(name)))
      .toSorted()
      .map((name) => join(path, name));
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readText(name: string, stream: Readable, largestMib: number): Promise<TextFile> {
  const bytes = await readBounded(name, stream, largestMib);
  if (!isUtf8(bytes)) throw new InputError(`${name}: expected text in UTF-8`);
  return { name, text: bytes.toString('utf8') };
}

async function readBounded(name: string, stream: Readable, largestMib: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > largestMib * MIB) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw unreadable(name, error);
  }
  if (size > largestMib * MIB) throw new InputError(`${name}: expected at most ${largestMib} MiB`);
  return Buffer.concat(chunks);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
};

function unreadable(name: string, error: unknown): InputError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new InputError(`${name}: cannot be read: ${REASONS[code] ?? code}`, { cause: error });
}
