import type { Mentions, ModuleCode } from './read-module.ts';

/** The code of every module, by its path from the root of the repository; `undefined` for packages. */
export interface Modules {
  code(file: string): ModuleCode | undefined;
  /** The path of an imported module; `undefined` for packages. */
  resolve(from: string, specifier: string): string | undefined;
}

/** A top-level declaration: `shared/domain/pod/pod-requests.ts#qosClass`. */
export type Declaration = `${string}#${string}`;

/** Every declaration that the code of a program can reach by name, starting from the statements of its main module. */
export function reachedFrom(main: string, modules: Modules): ReadonlySet<Declaration> {
  const loaded = loadedFrom(main, modules);
  return reachedBy(
    [...loaded].flatMap((file) => mentionsOf(file, modules.code(file)?.statements, modules)),
    modules,
  );
}

/** Every declaration that these can reach, including themselves. */
export function reachedBy(start: readonly Declaration[], modules: Modules): ReadonlySet<Declaration> {
  const reached = new Set<Declaration>();
  const waiting = [...start];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...mentionedBy(next, modules));
  }
  return reached;
}

/** The declarations named in the code of one. */
export function mentionedBy(declaration: Declaration, modules: Modules): readonly Declaration[] {
  const [file, name] = declaration.split('#') as [string, string];
  return mentionsOf(file, modules.code(file)?.declarations.get(name), modules);
}

function mentionsOf(file: string, mentions: Mentions | undefined, modules: Modules): readonly Declaration[] {
  if (mentions === undefined) return [];
  const imported = mentions.imported.flatMap(({ from, name }) =>
    declarationsNamed(modules.resolve(file, from), name, modules),
  );
  return [...Array.from(mentions.local, (name): Declaration => `${file}#${name}`), ...imported];
}

function declarationsNamed(file: string | undefined, name: string, modules: Modules): readonly Declaration[] {
  const declarations = file === undefined ? undefined : modules.code(file)?.declarations;
  if (file === undefined || declarations === undefined) return [];
  const names = name === '*' ? [...declarations.keys()] : [name].filter((each) => declarations.has(each));
  return names.map((each): Declaration => `${file}#${each}`);
}

/** A module and all modules that it loads: their top-level statements run. */
export function loadedFrom(main: string, modules: Modules): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [main];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const code = loaded.has(file) ? undefined : modules.code(file);
    if (code === undefined) continue;
    loaded.add(file);
    for (const specifier of code.loads) waiting.push(modules.resolve(file, specifier) ?? '');
  }
  return loaded;
}
