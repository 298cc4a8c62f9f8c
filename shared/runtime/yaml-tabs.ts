import { CST } from 'yaml';
import { yamlTokens } from './yaml-tokens.ts';

const NESTING: ReadonlyMap<CST.TokenType | null, number> = new Map([
  ['flow-map-start', 1],
  ['flow-seq-start', 1],
  ['flow-map-end', -1],
  ['flow-seq-end', -1],
]);
/** Before the text of a block scalar whose header does not say its indentation. */
const TAB_BEFORE_TEXT = /^(?: *\r?\n)* *\t/;

/**
 * Where a tab stands that Go's yaml package takes for indentation, so that kubectl refuses the text: at the start of a
 * line, or behind `-`, `?` or the `:` of a complex key. `undefined` if there is none.
 */
export function misplacedTab(text: string): number | undefined {
  if (!text.includes('\t')) return undefined;
  const place = new Place();
  for (const { source, offset, isText } of yamlTokens(text)) {
    const at = isText ? place.read(source) : place.announce(source);
    if (at >= 0) return offset + at;
  }
  return undefined;
}

class Place {
  #depth = 0;
  #column = 0;
  #isScalarNext = false;
  #header = '';
  /** Whether a block may begin here. */
  #isFresh = true;
  #isLineStart = true;
  /** A plain scalar may go on beyond the column of its key or `-`. */
  #isBehindPlain = false;
  #parent = -1;
  #last = 0;

  announce(source: string): number {
    if (source === CST.FLOW_END) this.#depth = 0;
    this.#isScalarNext = source === CST.SCALAR;
    return -1;
  }

  /** Where the misplaced tab is in this token; negative if there is none. */
  read(source: string): number {
    const type = this.#isScalarNext ? 'scalar' : CST.tokenType(source);
    this.#isScalarNext = false;
    if (type === 'scalar' && this.#header !== '') return this.#readBlock(source);
    if (type === 'space' && this.#refuses(source)) return source.indexOf('\t');
    if (type === 'newline') this.#startLine();
    else {
      if (type !== 'space') this.#pass(type, source);
      this.#column += source.length;
    }
    return -1;
  }

  #refuses(space: string): boolean {
    if (!this.#isFresh || this.#depth > 0 || !space.includes('\t')) return false;
    return !this.#isBehindPlain || this.#column + space.indexOf('\t') <= this.#parent;
  }

  #readBlock(source: string): number {
    const tab = /\d/.test(this.#header) ? null : TAB_BEFORE_TEXT.exec(source);
    this.#header = '';
    this.#isBehindPlain = false;
    this.#startLine();
    return tab === null ? -1 : tab[0].length - 1;
  }

  #startLine(): void {
    this.#column = 0;
    this.#isLineStart = true;
    this.#isFresh = this.#depth === 0;
  }

  #pass(type: CST.TokenType | null, source: string): void {
    const isComplex = type === 'seq-item-ind' || type === 'explicit-key-ind';
    const isValue = type === 'map-value-ind';
    this.#isFresh = isComplex || (isValue && this.#isLineStart);
    if (this.#isFresh) this.#parent = this.#column;
    else if (isValue) this.#parent = this.#last;
    this.#depth += NESTING.get(type) ?? 0;
    this.#header = type === 'block-scalar-header' ? source : this.#header;
    this.#isBehindPlain = type === 'scalar';
    this.#isLineStart = false;
    this.#last = this.#column;
  }
}
