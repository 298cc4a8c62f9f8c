import { type Compiled, compileSelect, type Select, valueText } from './json-path.ts';
import { formatTable } from './table.ts';

/** Prints items as a table of the columns that the user named. */
type PrintColumns = (items: readonly unknown[], headers: boolean) => string;

interface Column {
  readonly header: string;
  readonly select: Select;
}

const FORM = 'expected HEADER:PATH, separated by commas, such as NAME:.metadata.name';

/** Compiles `HEADER:PATH,HEADER:PATH` of `kubectl -o custom-columns`; a missing field is `<none>`. */
export function compileColumns(spec: string): Compiled<PrintColumns> {
  const columns = spec.split(',').map(compileColumn);
  const known = columns.filter((each) => each !== undefined);
  if (known.length < columns.length) return { ok: false, message: `cannot read the columns "${spec}": ${FORM}` };
  return {
    ok: true,
    print: (items, headers) =>
      formatTable(
        headers ? known.map(({ header }) => header) : undefined,
        items.map((item) => known.map(({ select }) => cellOf(select([item])))),
      ),
  };
}

function compileColumn(text: string): Column | undefined {
  const at = text.indexOf(':');
  const [header, path] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  const select = at > 0 && header !== '' && path !== '' ? compileSelect(path) : undefined;
  return select && { header, select };
}

function cellOf(found: readonly unknown[]): string {
  return found.length === 0 ? '<none>' : found.map(valueText).join(',');
}
