import { stringify } from 'yaml';
import type { ChartTree } from './chart-tree.ts';

const STEP = 2;
/** What YAML 1.1 takes for a number or a boolean is quoted: Helm reads that version. */
const YAML = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;

/** The lines of a Helm template for a tree, `indent` spaces from the left. */
export function renderChartTree(tree: ChartTree, indent = 0): readonly string[] {
  switch (tree.kind) {
    case 'map':
      return [...tree.entries].flatMap(([key, child]) => entryLines(key, child, indent));
    case 'list':
      return tree.items.flatMap((item) => itemLines(item, indent));
    case 'plain':
      return indented(yamlLines(tree.value), indent);
    case 'either':
      return either(tree, indent, (side) => renderChartTree(side, indent));
    case 'action':
      return indented([tree.text], indent);
    case 'values':
    case 'contentsOf':
      return indented([`{{- toYaml ${tree.path} | nindent ${indent} }}`], indent);
  }
}

function entryLines(key: string, tree: ChartTree, indent: number): readonly string[] {
  const named = stringify(key, YAML).trim();
  switch (tree.kind) {
    case 'either':
      return either(tree, indent, (side) => entryLines(key, side, indent));
    case 'plain':
      return indented(yamlLines({ [key]: tree.value }), indent);
    case 'action':
      return indented([`${named}: ${tree.text}`], indent);
    case 'values':
      return withValue(tree.path, indent, [`${named}:`, `  {{- toYaml . | nindent ${indent + STEP} }}`]);
    case 'contentsOf':
      return contents(tree.path, indent);
    default:
      return [...indented([`${named}:`], indent), ...renderChartTree(tree, indent + STEP)];
  }
}

function itemLines(tree: ChartTree, indent: number): readonly string[] {
  if (tree.kind === 'either') return either(tree, indent, (side) => itemLines(side, indent));
  if (tree.kind === 'contentsOf') return contents(tree.path, indent);
  const lines = renderChartTree(tree, indent + STEP);
  const [first = '', ...rest] = lines;
  // A condition cannot stand on the line of the dash.
  if (first.trimStart().startsWith('{{-')) return [...indented(['-'], indent), ...lines];
  return [`${' '.repeat(indent)}- ${first.trimStart()}`, ...rest];
}

function contents(path: string, indent: number): readonly string[] {
  return withValue(path, indent, [`{{- toYaml . | nindent ${indent} }}`]);
}

function withValue(path: string, indent: number, lines: readonly string[]): readonly string[] {
  return indented([`{{- with ${path} }}`, ...lines, '{{- end }}'], indent);
}

function either(
  { when, then, otherwise }: Extract<ChartTree, { readonly kind: 'either' }>,
  indent: number,
  render: (side: ChartTree) => readonly string[],
): readonly string[] {
  const action = (text: string): readonly string[] => indented([`{{- ${text} }}`], indent);
  if (then === undefined) {
    return [...action(`if not (${when})`), ...(otherwise === undefined ? [] : render(otherwise)), ...action('end')];
  }
  const other = otherwise === undefined ? [] : [...action('else'), ...render(otherwise)];
  return [...action(`if ${when}`), ...render(then), ...other, ...action('end')];
}

/** Text in a manifest that looks like a template action is escaped. */
function yamlLines(value: unknown): readonly string[] {
  const text = stringify(value, YAML).trimEnd();
  return text.replaceAll('{{', '{{ "{{" }}').split('\n');
}

function indented(lines: readonly string[], indent: number): readonly string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line));
}
