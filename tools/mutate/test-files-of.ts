import type { Modules } from '#tools/reach/reached-from.ts';
import { loadedFrom } from '#tools/reach/reached-from.ts';

/** For each source the test files that load it, in groups: its own, those of its folder, all others. */
export function testFilesOf(
  sources: readonly string[],
  testFiles: readonly string[],
  modules: Modules,
): ReadonlyMap<string, readonly (readonly string[])[]> {
  const loads = testFiles.map((test) => [test, loadedFrom(test, modules)] as const);
  return new Map(
    sources.map((source) => {
      const able = loads.filter(([, loaded]) => loaded.has(source)).map(([test]) => test);
      const groups = [0, 1, 2].map((far) => able.filter((test) => distance(source, test) === far));
      return [source, groups.filter((group) => group.length > 0)];
    }),
  );
}

/**
 * The distance of a test file from the path that mirrors its source: `test/a/b/x.test.ts` for `a/b/x.ts` is the
 * nearest.
 */
function distance(source: string, test: string): number {
  const mirror = `test/${source.replace(/\.ts$/, '.test.ts')}`;
  if (test === mirror) return 0;
  return folderOf(test) === folderOf(mirror) ? 1 : 2;
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'));
}
