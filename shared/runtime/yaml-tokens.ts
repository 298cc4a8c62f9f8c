import { CST, Lexer } from 'yaml';

/** A piece of a YAML text, or an announcement of the lexer, which is no part of the text. */
interface YamlToken {
  readonly source: string;
  /** Where it stands in the text. */
  readonly offset: number;
  readonly isText: boolean;
}

const ANNOUNCEMENTS: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);

/** The tokens of a text, one at a time, as the lexer reads them. */
export function* yamlTokens(text: string): Generator<YamlToken> {
  let offset = 0;
  for (const source of new Lexer().lex(text)) {
    const isText = !ANNOUNCEMENTS.has(source);
    yield { source, offset, isText };
    if (isText) offset += source.length;
  }
}
