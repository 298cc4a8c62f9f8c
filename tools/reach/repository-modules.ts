import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { readModule, type ModuleCode } from './read-module.ts';
import type { Modules } from './reached-from.ts';

/** The modules of this repository, from the working directory; each is read once. */
export function repositoryModules(): Modules {
  const known = new Map<string, ModuleCode | undefined>();
  return {
    code: (file) => {
      if (!known.has(file)) known.set(file, readIfThere(file));
      return known.get(file);
    },
    resolve: (from, specifier) => {
      if (specifier.startsWith('#')) return specifier.slice(1);
      return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined;
    },
  };
}

function readIfThere(file: string): ModuleCode | undefined {
  return file.endsWith('.ts') && existsSync(file) ? readModule(file, readFileSync(file, 'utf8')) : undefined;
}
