import { CST, isScalar, Lexer, visit, type Document, type Range } from 'yaml';

const LIMITS = { tokens: 2_000_000, documents: 10_000, aliases: 1_000, depth: 200 } as const;

/**
 * The first limit that a text goes beyond, in words, before it is parsed: a parser needs hundreds of bytes for each
 * token, and for nesting and aliases more time than a person waits.
 */
export function findExcess(text: string): string | undefined {
  const counts = { tokens: 0, documents: 0, aliases: 0, depth: 0 };
  for (const token of new Lexer().lex(text)) {
    counts.tokens += 1;
    count(CST.tokenType(token), counts);
    for (const name of ['tokens', 'documents', 'aliases', 'depth'] as const)
      if (counts[name] > LIMITS[name]) return describe(name);
  }
  return undefined;
}

function count(type: CST.TokenType | null, counts: Record<keyof typeof LIMITS, number>): void {
  switch (type) {
    case 'doc-start':
      counts.documents += 1;
      return;
    case 'alias':
      counts.aliases += 1;
      return;
    case 'flow-map-start':
    case 'flow-seq-start':
      counts.depth += 1;
      return;
    case 'flow-map-end':
    case 'flow-seq-end':
      counts.depth -= 1;
      return;
    default:
      return;
  }
}

function describe(name: keyof typeof LIMITS): string {
  return name === 'depth' ? `nested deeper than ${LIMITS.depth}` : `more than ${LIMITS[name]} ${name} in one file`;
}

/** A key that stands twice in one mapping; the parser's own search compares each key with every other. */
export function findDoubledKey(document: Document): { readonly key: string; readonly offset: number } | undefined {
  let found: { readonly key: string; readonly offset: number } | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key) || typeof key.value === 'symbol') continue;
        const text = String(key.value);
        if (seen.has(text)) found = { key: text, offset: (key.range as Range | undefined)?.[0] ?? 0 };
        if (found !== undefined) return visit.BREAK;
        seen.add(text);
      }
      return undefined;
    },
  });
  return found;
}
