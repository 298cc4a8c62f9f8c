/** A file of a tar archive. Its owner is root and its time 1970, so that the same files give the same bytes. */
export interface TarEntry {
  /** Relative, without a leading slash. */
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable?: boolean;
}

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const CHECKSUM = { at: 148, bytes: 8 };

/** A ustar archive of the files and the folders above them, sorted by path. Throws on a path that the format cannot hold. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const folders = new Set(entries.flatMap(({ path }) => foldersAbove(path)));
  const all = [
    ...Array.from(folders, (path) => ({ path: `${path}/`, content: Buffer.alloc(0), mode: 0o755, type: '5' })),
    ...entries.map((each) => ({ ...each, mode: each.isExecutable === true ? 0o755 : 0o644, type: '0' })),
  ].toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const blocks = all.flatMap(({ path, content, mode, type }) => [
    header(path, { size: content.length, mode, type }),
    content,
    Buffer.alloc(-content.length & (BLOCK - 1)),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** The content of one file of an archive, if it is there. */
export function fileInTar(archive: Buffer, path: string): Buffer | undefined {
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0;) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8);
    const name = archive.toString('utf8', at, at + NAME_BYTES).replace(/\0.*$/s, '');
    if (name === path) return archive.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function header(path: string, { size, mode, type }: { size: number; mode: number; type: string }): Buffer {
  const { prefix, name } = splitPath(path);
  const block = Buffer.alloc(BLOCK);
  const fields: readonly (readonly [at: number, text: string])[] = [
    [0, name],
    [100, octal(mode, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(0, 11)],
    [CHECKSUM.at, ' '.repeat(CHECKSUM.bytes)],
    [156, type],
    [257, 'ustar\u000000'],
    [345, prefix],
  ];
  for (const [at, text] of fields) block.write(text, at);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, CHECKSUM.at);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** A long path is split at a slash. */
function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= PREFIX_BYTES && Buffer.byteLength(name) <= NAME_BYTES) return { prefix, name };
  }
  throw new Error(`cannot archive "${path}": the path is too long for ustar`);
}
