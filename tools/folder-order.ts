/** A file and the files that it imports, as paths from the root of the repository. */
export interface ImportingFile {
  readonly source: string;
  readonly imports: readonly string[];
}

/** Subfolders of one folder that import one another, in the order of the imports; the first is also the last. */
export type FolderCycle = readonly string[];

/**
 * One cycle of each group of sibling folders in which every folder leads to every other: such folders are one theme
 * spread over several places. Files next to the folders are not part of it.
 */
export function findFolderCycles(files: readonly ImportingFile[]): readonly FolderCycle[] {
  const next = siblingImports(files);
  const seen = new Set<string>();
  const cycles: FolderCycle[] = [];
  for (const folder of [...next.keys()].sort()) {
    const cycle = seen.has(folder) ? undefined : cycleFrom(folder, next);
    if (cycle === undefined) continue;
    cycle.forEach((each) => seen.add(each));
    cycles.push(cycle);
  }
  return cycles;
}

/** For each folder the sibling folders that its files import, at any depth. */
function siblingImports(files: readonly ImportingFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const next = new Map<string, Set<string>>();
  for (const { source, imports } of files) {
    for (const imported of imports) {
      const pair = siblings(source.split('/'), imported.split('/'));
      if (pair === undefined) continue;
      const [from, to] = pair;
      next.set(from, (next.get(from) ?? new Set()).add(to));
    }
  }
  return next;
}

/** The folders in which the paths of two files diverge; undefined if one of the files is directly there. */
function siblings(source: readonly string[], imported: readonly string[]): readonly [string, string] | undefined {
  const depth = source.findIndex((name, index) => name !== imported[index]);
  if (depth < 0 || depth >= source.length - 1 || depth >= imported.length - 1) return undefined;
  return [source.slice(0, depth + 1).join('/'), imported.slice(0, depth + 1).join('/')];
}

/** The shortest way from a folder back to itself. */
function cycleFrom(folder: string, next: ReadonlyMap<string, ReadonlySet<string>>): FolderCycle | undefined {
  const seen = new Set<string>();
  let ways: readonly FolderCycle[] = [[folder]];
  while (ways.length > 0) {
    const longer = ways.flatMap((way) => [...(next.get(way.at(-1) ?? '') ?? [])].map((to) => [...way, to]));
    const back = longer.find((way) => way.at(-1) === folder);
    if (back !== undefined) return back;
    ways = longer.filter((way) => {
      const end = way.at(-1) ?? '';
      return !seen.has(end) && seen.add(end);
    });
  }
  return undefined;
}
