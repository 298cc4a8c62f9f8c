/** The sections of each alert in docs/runbook.md, in their order. A section without words does not count. */
export function readRunbook(markdown: string): ReadonlyMap<string, readonly string[]> {
  const pages = markdown.split(/^### (?=Plimsoll)/m).slice(1);
  return new Map(
    pages.map((page) => [
      /^\w+/.exec(page)?.[0] ?? '',
      Array.from(page.matchAll(/^\*\*(\w+)\.\*\* \S/gm), ([, name = '']) => name),
    ]),
  );
}
